"use strict";
// What one can do with a report. The page is complete without it: everything shown here is already in the page, and
// nothing is ever made from text. The program wrote which arrows a line is about (data-arrows), what else it mentions
// (data-parts), and what it follows from (data-from); an arrow has the numbers of its lines (data-numbers) and what it
// connects (data-ends).
(() => {
  const find = (selector, inside = document) => inside.querySelector(selector);
  const findAll = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const words = (element, name) => (element.dataset[name] || "").split(" ").filter(Boolean);

  const root = document.documentElement;
  const svg = find(".view svg");
  const caption = find(".caption");
  const peek = find(".peek");
  const help = find(".help");
  const button = (name) => find(`[data-do="${name}"]`);

  // ---- What there is: lines, arrows, cards and rows, each with the elements that show it.

  const lines = findAll(".line").map((element, place) => ({
    element,
    place,
    number: element.value > 0 && element.id ? String(element.value) : "",
    arrows: new Set(words(element, "arrows")),
    parts: new Set(words(element, "parts")),
    from: words(element, "from"),
  }));
  const arrows = gathered("arrow", (group) => ({ numbers: words(group, "numbers"), ends: new Set(words(group, "ends")) }));
  const rows = gathered("row", (group) => ({ card: group.dataset.card }));
  const cards = gathered("card", () => ({}));

  /** The things of a kind by name. Each is drawn in several groups, since lines are below cards and labels on top. */
  function gathered(kind, facts) {
    const things = new Map();
    for (const group of svg ? findAll(`[data-${kind}]`, svg) : []) {
      const name = group.dataset[kind];
      if (!things.has(name)) things.set(name, { kind, name, groups: [], title: "", ...facts(group) });
      const thing = things.get(name);
      thing.groups.push(group);
      // The rows of a card are groups of their own, with titles of their own.
      const title = find(":scope > title", group);
      if (title && (kind !== "card" || !group.dataset.row)) thing.title = title.textContent;
    }
    return things;
  }

  /** What is under the pointer: an arrow, a row or a card. */
  function thingAt(element) {
    const group = element.closest("[data-arrow], [data-row], [data-card]");
    if (!group) return null;
    const { arrow, row, card } = group.dataset;
    return arrows.get(arrow) || rows.get(row) || cards.get(card) || null;
  }

  // ---- What is lit: a line with its arrows, or an arrow, row or card with its lines.

  let selected = null; // A line or a thing.
  let pointedAt = null;

  function lightOf(subject) {
    const light = { lines: new Set(), nearLines: new Set(), arrows: new Set(), nearArrows: new Set(), parts: new Set() };
    if (lines.includes(subject)) lightOfLine(subject, light);
    else if (subject) lightOfThing(subject, light);
    return light;
  }

  function lightOfLine(line, light) {
    light.lines.add(line);
    light.arrows = line.arrows;
    light.parts = new Set(line.parts);
    for (const other of lines.filter((other) => line.from.includes(other.number))) {
      light.nearLines.add(other);
      other.arrows.forEach((name) => light.nearArrows.add(name));
    }
  }

  function lightOfThing(thing, light) {
    light.parts.add(thing.name);
    for (const arrow of arrows.values()) {
      if (arrow === thing || arrow.ends.has(thing.name)) light.arrows.add(arrow.name);
    }
    for (const line of lines) {
      // The number on an arrow is the line that tells of it; others use it.
      const tells = thing.kind === "arrow" ? thing.numbers.includes(line.number) : line.parts.has(thing.name);
      if (tells || (thing.kind === "arrow" && !line.number && line.arrows.has(thing.name))) light.lines.add(line);
      else if (line.arrows.has(thing.name)) light.nearLines.add(line);
    }
  }

  function paint(subject = pointedAt || selected) {
    const light = lightOf(subject);
    for (const line of lines) {
      mark(line.element, light.lines.has(line), light.nearLines.has(line));
      if (line === selected) line.element.setAttribute("aria-current", "step");
      else line.element.removeAttribute("aria-current");
    }
    if (svg) paintPicture(light);
    say(subject);
  }

  function paintPicture(light) {
    const touched = { lit: new Set(light.parts), near: new Set() };
    for (const arrow of arrows.values()) {
      const [lit, near] = [light.arrows.has(arrow.name), light.nearArrows.has(arrow.name)];
      arrow.groups.forEach((group) => mark(group, lit, near));
      if (lit || near) arrow.ends.forEach((end) => touched[lit ? "lit" : "near"].add(end));
    }
    for (const row of rows.values()) {
      const [lit, near] = [touched.lit, touched.near].map((names) => names.has(row.name));
      if (lit) touched.lit.add(row.card);
      if (near) touched.near.add(row.card);
    }
    for (const card of cards.values()) card.groups.forEach((group) => mark(group, touched.lit.has(card.name), touched.near.has(card.name)));
    for (const row of rows.values()) {
      // A row that is not meant is as bright as its card, but not coloured.
      const meant = touched.lit.has(row.name);
      row.groups.forEach((group) => mark(group, meant, !meant && (touched.lit.has(row.card) || touched.near.has(row.card))));
    }
    svg.classList.toggle("focused", touched.lit.size > 0);
  }

  function mark(element, lit, near) {
    element.classList.toggle("lit", lit);
    element.classList.toggle("near", near && !lit);
  }

  /** Says below the picture what is lit; a transaction with all its operations. */
  function say(subject) {
    if (!caption) return;
    const line = lines.includes(subject);
    caption.classList.toggle("lit", subject !== null);
    caption.classList.toggle("of-line", line);
    if (!subject) {
      caption.textContent = `Point at an arrow or a numbered statement, or step through all ${lines.length} statements.`;
    } else if (line) {
      const name = document.createElement("b");
      name.textContent = subject.number ? `${subject.number} of ${lines.filter((other) => other.number).length}` : "";
      caption.replaceChildren(name, find(".words", subject.element).textContent);
    } else {
      caption.textContent = subject.title;
    }
    // Not those of what is only pointed at: the page would jump below the pointer.
    showOperations(selected && selected.kind === "card" ? selected : null);
  }

  /** All operations of a card, those that the picture leaves out included: a copy of what is further down. */
  function showOperations(card) {
    const table = card && find(`#rows-${card.name} table`);
    peek.hidden = !table;
    peek.replaceChildren(...(table ? [table.cloneNode(true)] : []));
  }

  // ---- Selecting, and stepping through the argument.

  function select(subject) {
    selected = subject;
    pointedAt = null;
    paint();
    remember(subject);
    if (lines.includes(subject)) {
      subject.element.scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" });
      follow();
    }
  }

  /** A click on an arrow selects the line that tells of it; of several, one after the other. */
  function choose(thing) {
    const telling = lines.filter((line) => thing.kind === "arrow" && line.number && thing.numbers.includes(line.number));
    if (telling.length > 0) select(telling[(telling.indexOf(selected) + 1) % telling.length]);
    else select(thing === selected ? null : thing);
  }

  function step(by) {
    const at = lines.indexOf(selected);
    const next = at < 0 ? (by > 0 ? 0 : lines.length - 1) : Math.min(Math.max(at + by, 0), lines.length - 1);
    select(lines[next] || null);
  }

  /** The address leads to the selected line, so that one can send it. */
  function remember(subject) {
    const anchor = lines.includes(subject) && subject.number ? `#line-${subject.number}` : "";
    try {
      history.replaceState(null, "", anchor || location.pathname + location.search);
    } catch {
      // Some browsers do not allow it for files.
    }
  }

  function goToAddress() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const line = lines.find((line) => line.element === target);
    if (line) select(line);
    else if (target && target.tagName === "DETAILS") target.open = true;
  }

  // ---- Zoom: what part of the picture is seen.

  const home = svg && { ...plain(svg.viewBox.baseVal) };
  let view = home;
  let moving = 0;
  const CLOSEST = 12;

  function plain({ x, y, width, height }) {
    return { x, y, width, height };
  }

  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  /** Shows a part, no larger than the picture and inside it. */
  function look(part) {
    const width = Math.min(Math.max(part.width, home.width / CLOSEST), home.width);
    const height = (width * home.height) / home.width;
    const between = (value, low, high) => Math.min(Math.max(value, low), Math.max(low, high));
    view = {
      x: between(part.x, home.x, home.x + home.width - width),
      y: between(part.y, home.y, home.y + home.height - height),
      width,
      height,
    };
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    const zoomed = view.width < home.width * 0.999;
    svg.classList.toggle("zoomed", zoomed);
    // Not disabled: that would lose the focus.
    for (const name of ["fit", "wider"]) button(name).setAttribute("aria-disabled", String(!zoomed));
    button("closer").setAttribute("aria-disabled", String(view.width <= (home.width / CLOSEST) * 1.001));
  }

  /** The same within a moment. */
  function glide(part) {
    cancelAnimationFrame(moving);
    if (still()) return look(part);
    const [from, begin, time] = [view, performance.now(), 180];
    const frame = (now) => {
      const share = Math.min(Math.max((now - begin) / time, 0), 1);
      const mix = (name) => from[name] + (part[name] - from[name]) * share * (2 - share);
      look({ x: mix("x"), y: mix("y"), width: mix("width"), height: mix("height") });
      if (share < 1) moving = requestAnimationFrame(frame);
    };
    moving = requestAnimationFrame(frame);
  }

  /** The part that is seen when zoomed around a point that stays where it is. */
  function zoomed(factor, point) {
    const middle = point || { x: view.x + view.width / 2, y: view.y + view.height / 2 };
    const width = Math.min(Math.max(view.width / factor, home.width / CLOSEST), home.width);
    const share = width / view.width;
    return {
      x: middle.x - (middle.x - view.x) * share,
      y: middle.y - (middle.y - view.y) * share,
      width,
      height: view.height * share,
    };
  }

  /** A point of the window in the picture. */
  function inPicture(event) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  }

  /** Shows what is lit where the whole picture is too small to be read, or where a part is seen that may not have it. */
  function follow() {
    if (!svg) return;
    const small = svg.getScreenCTM().a * (view.width / home.width) < 0.62;
    const boxes = findAll("g.lit", svg).map((group) => group.getBBox()).filter((box) => box.width > 0);
    if (boxes.length === 0 || !(small || svg.classList.contains("zoomed"))) return;
    const margin = 14;
    const left = Math.min(...boxes.map((box) => box.x)) - margin;
    const top = Math.min(...boxes.map((box) => box.y)) - margin;
    const right = Math.max(...boxes.map((box) => box.x + box.width)) + margin;
    const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + margin;
    const width = Math.max(right - left, ((bottom - top) * home.width) / home.height, home.width / 4);
    const height = (width * home.height) / home.width;
    // What is lit all over the picture is seen in the whole picture.
    if (width > home.width * 0.8) glide(home);
    else glide({ x: (left + right - width) / 2, y: (top + bottom - height) / 2, width, height });
  }

  // ---- Pointers: one points or drags, two zoom.

  const pointers = new Map();
  let dragged = false;

  function listenToPointers() {
    svg.addEventListener("pointerover", (event) => {
      if (event.pointerType === "mouse" && pointers.size === 0) point(thingAt(event.target));
    });
    svg.addEventListener("pointerleave", () => point(null));
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      if (pointers.size === 0) dragged = false;
      pointers.set(event.pointerId, event);
    });
    svg.addEventListener("pointermove", (event) => {
      if (pointers.has(event.pointerId)) drag(event);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      addEventListener(end, (event) => {
        pointers.delete(event.pointerId);
        if (pointers.size === 0) svg.classList.remove("dragged");
      });
    }
    svg.addEventListener("click", (event) => {
      // The end of a drag is no click.
      if (dragged) return;
      const thing = thingAt(event.target);
      if (thing) choose(thing);
      else select(null);
    });
    svg.addEventListener("dblclick", (event) => glide(zoomed(event.shiftKey ? 0.5 : 2, inPicture(event))));
    // Without Ctrl the wheel scrolls the page. Pinching a touchpad counts as Ctrl.
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      look(zoomed(Math.exp(-event.deltaY * 0.004), inPicture(event)));
    }, { passive: false });
  }

  function drag(event) {
    const before = pointers.get(event.pointerId);
    const far = Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY);
    if (!dragged && pointers.size === 1 && far < 5) return;
    const other = [...pointers.entries()].find(([id]) => id !== event.pointerId);
    const [from, to] = [inPicture(before), inPicture(event)];
    if (other) {
      const apart = (a) => Math.hypot(a.clientX - other[1].clientX, a.clientY - other[1].clientY);
      look(zoomed(apart(event) / Math.max(apart(before), 1), inPicture(other[1])));
    } else {
      look({ ...view, x: view.x + from.x - to.x, y: view.y + from.y - to.y });
    }
    dragged = true;
    svg.classList.add("dragged");
    svg.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
  }

  function point(subject) {
    if (subject === pointedAt) return;
    pointedAt = subject;
    paint();
  }

  function listenToLines() {
    for (const line of lines) {
      const { element } = line;
      element.tabIndex = 0;
      element.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && point(line));
      element.addEventListener("pointerleave", () => point(null));
      element.addEventListener("focus", () => element.matches(":focus-visible") && point(line));
      element.addEventListener("blur", () => point(null));
      element.addEventListener("click", (event) => {
        // Links lead elsewhere, and words can be selected to be copied.
        if (event.target.closest("a") || String(getSelection())) return;
        select(line === selected ? null : line);
      });
    }
  }

  /** Labels and cards can be reached with Tab. */
  function makeReachable() {
    for (const thing of [...cards.values(), ...arrows.values()]) {
      const group = thing.groups.find((group) => find(":scope > .label, :scope > .card", group));
      if (!group) continue;
      group.tabIndex = 0;
      group.setAttribute("role", "button");
      group.setAttribute("aria-label", thing.title);
      group.addEventListener("focus", () => {
        if (!group.matches(":focus-visible")) return;
        point(thing);
        follow();
      });
      group.addEventListener("blur", () => point(null));
    }
    // The caption says the same at once.
    findAll("title", svg).forEach((title) => title.remove());
  }

  /** Thin lines are hard to point at: each gets a broad invisible one. */
  function widen() {
    for (const line of findAll(".dependency > .edge", svg)) {
      const broad = line.cloneNode();
      broad.setAttribute("class", "hit");
      line.after(broad);
    }
  }

  // ---- Buttons and keys.

  function switchEvidence() {
    if (button("evidence").disabled) return;
    const bare = svg.classList.toggle("bare");
    button("evidence").setAttribute("aria-pressed", String(!bare));
  }

  function prepareEvidence() {
    const all = [...arrows.values()].map((arrow) => arrow.groups[0].classList.contains("cycle"));
    // Where nothing is a contradiction by itself, all of it is shown.
    button("evidence").disabled = !(all.includes(true) && all.includes(false));
    for (const card of cards.values()) {
      const aside = card.groups.some((group) => find(":scope > .card.evidence", group));
      card.groups.forEach((group) => group.classList.toggle("aside", aside));
    }
  }

  function switchRows() {
    const tables = findAll(".operations details");
    const open = !tables.every((table) => table.open);
    tables.forEach((table) => (table.open = open));
    if (svg) button("rows").setAttribute("aria-pressed", String(open));
    if (open) find(".operations").scrollIntoView({ behavior: still() ? "auto" : "smooth" });
  }

  /** The other one; the one that the system prefers is not insisted on. */
  function switchTheme() {
    const preferred = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const other = (root.dataset.theme || preferred) === "dark" ? "light" : "dark";
    if (other === preferred) delete root.dataset.theme;
    else root.dataset.theme = other;
  }

  function move(key) {
    const [across, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    glide({ ...view, x: view.x + (across * view.width) / 5, y: view.y + (down * view.height) / 5 });
  }

  const actions = {
    next: () => step(1),
    back: () => step(-1),
    closer: () => svg && glide(zoomed(1.5)),
    wider: () => svg && glide(zoomed(1 / 1.5)),
    fit: () => svg && glide(home),
    evidence: () => svg && switchEvidence(),
    rows: switchRows,
    theme: switchTheme,
    help: () => help.showModal(),
    nothing: () => select(null),
  };
  const keys = {
    j: "next", n: "next", ArrowRight: "next", k: "back", p: "back", ArrowLeft: "back",
    "+": "closer", "=": "closer", "-": "wider", 0: "fit", e: "evidence", r: "rows", d: "theme", "?": "help",
    Escape: "nothing",
  };

  function listenToKeys() {
    addEventListener("keydown", (event) => {
      if (help.open || event.ctrlKey || event.metaKey || event.altKey) return;
      const isArrow = event.key.startsWith("Arrow");
      if (event.key === "Enter" || event.key === " ") {
        pressed(event);
      } else if (event.shiftKey && isArrow) {
        if (!svg || !svg.classList.contains("zoomed")) return;
        event.preventDefault();
        move(event.key);
      } else if (Object.hasOwn(keys, event.key)) {
        event.preventDefault();
        actions[keys[event.key]]();
      }
    });
  }

  /** Enter on a line, a label or a card; buttons and links do that by themselves. */
  function pressed(event) {
    const line = lines.find((line) => line.element === event.target);
    const thing = svg && svg.contains(event.target) ? thingAt(event.target) : null;
    if (!line && !thing) return;
    event.preventDefault();
    if (line) select(line === selected ? null : line);
    else choose(thing);
  }

  // ---- Paper shows all of the picture, and everything that is folded.

  function listenToPrinting() {
    let folded = [];
    let seen = view;
    addEventListener("beforeprint", () => {
      folded = findAll("details:not([open])");
      folded.forEach((details) => (details.open = true));
      seen = view;
      if (svg) look(home);
      paint(null);
    });
    addEventListener("afterprint", () => {
      folded.forEach((details) => (details.open = false));
      if (svg) look(seen);
      paint();
    });
  }

  function begin() {
    root.classList.add("live");
    if (svg) {
      find(".tools").hidden = caption.hidden = false;
      widen();
      makeReachable();
      prepareEvidence();
      listenToPointers();
      look(home);
      // Lines that are scrolled to must not hide behind a picture that stays.
      new ResizeObserver(() => root.style.setProperty("--desk", `${find(".desk").offsetHeight}px`)).observe(find(".desk"));
    }
    findAll("[data-do]").forEach((element) => element.addEventListener("click", actions[element.dataset.do]));
    listenToLines();
    listenToKeys();
    listenToPrinting();
    addEventListener("hashchange", goToAddress);
    paint();
    goToAddress();
  }

  begin();
})();
