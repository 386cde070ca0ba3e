import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A key-value store that promises serializable transactions and loses updates; two clients find out.
 *
 * <p>usage: java Store [--fixed]
 */
public final class Store {
    private static final int CLIENTS = 2;
    private static final int ROUNDS = 3;
    private static final Item ABSENT = new Item(null, 0);

    private final Map<String, Item> items = new HashMap<>();
    private final boolean fixed;

    private static final class Item {
        final Long value;
        final int version;

        Item(Long value, int version) {
            this.value = value;
            this.version = version;
        }
    }

    private Store(boolean fixed) {
        this.fixed = fixed;
    }

    synchronized Item get(String key) {
        return items.getOrDefault(key, ABSENT);
    }

    /** Commits if the keys that were read are still the same. */
    synchronized boolean commit(Map<String, Integer> reads, Map<String, Long> writes) {
        for (Map.Entry<String, Integer> read : reads.entrySet()) {
            // The bug: a key that was absent when it was read is not compared.
            boolean isCompared = read.getValue() != 0 || fixed;
            if (isCompared && get(read.getKey()).version != read.getValue()) {
                return false;
            }
        }
        writes.forEach((key, value) -> items.put(key, new Item(value, get(key).version + 1)));
        return true;
    }

    /** Changes the stock that all clients share; in each round their transactions overlap. */
    private static Void sell(Store store, Recorder.Session session, AtomicLong values, CyclicBarrier meet)
            throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            Recorder.Transaction t = session.begin();
            Item stock = store.get("stock");
            t.read("stock", stock.value);
            long value = values.incrementAndGet();
            t.write("stock", value);
            meet.await();
            if (store.commit(Map.of("stock", stock.version), Map.of("stock", value))) {
                t.commit();
            } else {
                t.abort();
            }
        }
        return null;
    }

    public static void main(String[] arguments) throws Exception {
        Store store = new Store(List.of(arguments).contains("--fixed"));
        Recorder recorder = new Recorder();
        AtomicLong values = new AtomicLong();
        CyclicBarrier meet = new CyclicBarrier(CLIENTS);
        List<Callable<Void>> clients = new ArrayList<>();
        for (int client = 1; client <= CLIENTS; client++) {
            Recorder.Session session = recorder.session("client" + client);
            clients.add(() -> sell(store, session, values, meet));
        }
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
        for (Future<Void> done : threads.invokeAll(clients)) {
            done.get();
        }
        threads.shutdown();
        recorder.save(Path.of("history.jsonl"));
        Process check = new ProcessBuilder("isoscope", "check", "history.jsonl", "--level", "SER").inheritIO().start();
        System.exit(check.waitFor());
    }
}
