use super::*;

fn write(action: Action, start: i64, end: i64) -> Write {
    Write {
        action,
        interval: Interval { start, end },
        is_certain: true,
    }
}

fn get(strings: &[usize], start: i64, end: i64) -> Get {
    Get {
        strings: strings.to_vec(),
        interval: Interval { start, end },
    }
}

fn assigned(writes: &[Write], groups: &[Vec<usize>], gets: &[Get]) -> (Vec<Vec<usize>>, bool) {
    let Assigned {
        writes,
        is_explained,
    } = assign(writes, groups, gets, &Control::new())
        .expect("no limit")
        .expect("few orders");
    (writes, is_explained)
}

#[test]
fn without_puts_strings_are_in_the_order_of_their_writes() {
    let writes = [(0, 1), (2, 3), (4, 5)].map(|(start, end)| write(Action::Append, start, end));
    let groups = [vec![0, 2], vec![1]];
    let gets = [get(&[0, 1, 0], 8, 9), get(&[0, 1], 3, 6)];
    assert_eq!(
        assigned(&writes, &groups, &gets),
        (vec![vec![0, 1, 2], vec![0, 1]], true)
    );
    // Shown only late: what was appended first cannot be missing.
    assert_eq!(
        assigned(&writes, &groups, &[get(&[0], 2, 9)]),
        (vec![vec![0]], true)
    );
}

#[test]
fn a_put_in_between_hides_the_earlier_write() {
    let writes = [
        write(Action::Append, 0, 1),
        write(Action::Put, 2, 3),
        write(Action::Append, 4, 5),
    ];
    let groups = [vec![0, 2], vec![1]];
    assert_eq!(
        assigned(&writes, &groups, &[get(&[1, 0], 6, 7)]),
        (vec![vec![1, 2]], true)
    );
    // The put may have come before or after the first append: one of two orders that explain the result.
    let writes = [
        write(Action::Append, 0, 3),
        write(Action::Put, 1, 5),
        write(Action::Append, 4, 9),
    ];
    let (parts, is_explained) = assigned(&writes, &groups, &[get(&[1, 0], 6, 8)]);
    assert!(is_explained && (parts == [[1, 0]] || parts == [[1, 2]]));
}

#[test]
fn a_put_is_the_last_one_that_may_be_there() {
    let writes = [write(Action::Put, 0, 1), write(Action::Put, 2, 3)];
    let groups = [vec![0, 1]];
    assert_eq!(
        assigned(&writes, &groups, &[get(&[0], 4, 5)]),
        (vec![vec![1]], true)
    );
    assert_eq!(
        assigned(&writes, &groups, &[get(&[0], 0, 1), get(&[0], 4, 5)]),
        (vec![vec![0], vec![1]], true)
    );
}

#[test]
fn a_result_that_no_order_explains_shows_what_others_show() {
    let writes = [(0, 1), (4, 5), (6, 7)].map(|(start, end)| write(Action::Append, start, end));
    let groups = [vec![0, 1], vec![2]];
    // Both before the second was appended.
    assert_eq!(
        assigned(&writes, &groups, &[get(&[0, 0], 2, 3)]),
        (vec![vec![0, 1]], false)
    );
    // A stale read of what an earlier one showed.
    let gets = [get(&[0, 0, 1], 8, 9), get(&[0, 0], 10, 11)];
    assert_eq!(
        assigned(&writes, &groups, &gets),
        (vec![vec![0, 1, 2], vec![0, 1]], false)
    );
}

/// Every order of the operations, with any choice of those of unknown outcome, by trying all.
fn is_linearizable(writes: &[Write], strings: &[usize], gets: &[Get]) -> bool {
    fn go_on(all: (&[Write], &[usize], &[Get]), left: Vec<usize>, now: &[usize]) -> bool {
        let (writes, strings, gets) = all;
        let interval = |o: usize| {
            writes
                .get(o)
                .map_or_else(|| gets[o - writes.len()].interval, |write| write.interval)
        };
        let is_certain = |o: usize| writes.get(o).is_none_or(|write| write.is_certain);
        if left.iter().all(|&o| !is_certain(o)) {
            return true;
        }
        left.iter().any(|&next| {
            let is_over =
                |&other: &usize| is_certain(other) && interval(other).end < interval(next).start;
            if left.iter().any(is_over) {
                return false;
            }
            let value = match writes.get(next) {
                None if gets[next - writes.len()].strings != now => return false,
                None => now.to_vec(),
                Some(write) if write.action == Action::Put => vec![strings[next]],
                Some(_) => [now, &[strings[next]]].concat(),
            };
            go_on(
                all,
                left.iter().copied().filter(|&o| o != next).collect(),
                &value,
            )
        })
    }
    go_on(
        (writes, strings, gets),
        (0..writes.len() + gets.len()).collect(),
        &[],
    )
}

#[test]
fn orders_are_found_exactly_where_trying_all_finds_one() {
    let mut random = fastrand::Rng::with_seed(58);
    let mut counts = [0; 2];
    for _ in 0..4_000 {
        let mut times: Vec<i64> = (0..14).collect();
        // Not far from where they were, so that some operations come one after another.
        for at in 0..13 {
            if random.bool() {
                times.swap(at, (at + 1 + random.usize(..3)).min(13));
            }
        }
        let mut intervals = times.chunks(2).map(|pair| Interval {
            start: pair[0].min(pair[1]),
            end: pair[0].max(pair[1]),
        });
        let mut writes: Vec<Write> = Vec::new();
        let mut strings: Vec<usize> = Vec::new();
        for interval in intervals.by_ref().take(4) {
            let action = if random.u8(..3) == 0 {
                Action::Put
            } else {
                Action::Append
            };
            let is_certain = random.u8(..6) > 0;
            let end = if is_certain { interval.end } else { i64::MAX };
            writes.push(Write {
                action,
                interval: Interval { end, ..interval },
                is_certain,
            });
            strings.push(random.usize(..2));
        }
        let groups: Vec<Vec<usize>> = (0..2)
            .map(|string| (0..4).filter(|&w| strings[w] == string).collect())
            .collect();
        // What an order shows in which each takes effect at some time while it runs, now and then with a string more or less.
        let intervals: Vec<Interval> = intervals.collect();
        let all = writes
            .iter()
            .map(|write| write.interval)
            .chain(intervals.iter().copied())
            .enumerate();
        let mut order: Vec<(i64, usize)> = all
            .map(|(n, i)| (random.i64(i.start..=i.end.min(14)), n))
            .collect();
        order.sort_unstable();
        let (mut now, mut gets) = (Vec::new(), Vec::new());
        for (_, operation) in order {
            match writes.get(operation) {
                Some(write) => {
                    if write.action == Action::Put {
                        now.clear();
                    }
                    now.push(strings[operation]);
                }
                None => {
                    let mut strings: Vec<usize> = now.clone();
                    match random.u8(..8) {
                        0 => drop(strings.pop()),
                        1 => strings.extend(strings.first().copied()),
                        _ => {}
                    }
                    gets.push(Get {
                        strings,
                        interval: intervals[operation - writes.len()],
                    });
                }
            }
        }
        let (parts, is_explained) = assigned(&writes, &groups, &gets);
        assert_eq!(is_explained, is_linearizable(&writes, &strings, &gets));
        counts[usize::from(is_explained)] += 1;
        for (get, parts) in gets.iter().zip(parts) {
            assert_eq!(
                parts
                    .iter()
                    .map(|&write| strings[write])
                    .collect::<Vec<_>>(),
                get.strings
            );
        }
    }
    assert!(counts.iter().all(|&count| count > 400), "{counts:?}");
}
