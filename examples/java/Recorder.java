import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/** Records what the clients of a test did. All threads may share one. */
public final class Recorder {
    private final List<Transaction> transactions = new ArrayList<>();

    public Session session(String name) { return new Session(name); }

    /** One client: its transactions follow each other. Each thread has its own. */
    public final class Session {
        private String name;
        private Transaction last;

        private Session(String name) { this.name = name; }

        /** Starts a transaction. Call it before the first statement. */
        public Transaction begin() {
            synchronized (Recorder.this) {
                // One of unknown outcome may take effect after those that follow, so these are another session.
                if (last != null && last.outcome.equals("unknown")) name += "+";
                last = new Transaction(name);
                transactions.add(last);
                return last;
            }
        }
    }

    /** Has an unknown outcome unless commit or abort is called: it may have taken effect. */
    public final class Transaction {
        private final String session;
        private final StringJoiner operations = new StringJoiner(",", "[", "]");
        private final long start = System.nanoTime();
        private long end = start;
        private String outcome = "unknown";

        private Transaction(String session) { this.session = session; }

        /** What a read returned: a string, an integer, or a list; null if there was nothing. */
        public void read(Object key, Object value) { add("r", key, value); }

        /** Called before the statement, as append is. */
        public void write(Object key, Object value) { add("w", key, value); }
        public void append(Object key, Object element) { add("append", key, element); }

        /** It is known to have committed; after abort, to have no effect. */
        public void commit() { change(() -> { outcome = "committed"; end = System.nanoTime(); }); }
        public void abort() { change(() -> { outcome = "aborted"; end = System.nanoTime(); }); }

        private void add(String word, Object key, Object value) {
            String operation = "[" + json(word) + "," + json(key) + "," + json(value) + "]";
            change(() -> operations.add(operation));
        }

        private void change(Runnable how) {
            synchronized (Recorder.this) {
                if (!outcome.equals("unknown")) throw new IllegalStateException("the transaction has " + outcome);
                how.run();
            }
        }
    }

    /** Writes a line for each transaction so far, in the order in which they began. */
    public synchronized void save(Path path) throws IOException {
        List<String> lines = new ArrayList<>();
        for (Transaction t : transactions) {
            lines.add("{\"session\":" + json(t.session) + ",\"op\":\"txn\",\"value\":" + t.operations + ",\"start\":"
                + t.start + ",\"end\":" + t.end + ",\"outcome\":" + json(t.outcome) + "}");
        }
        Files.write(path, lines);
    }

    private static String json(Object value) {
        if (value == null || value instanceof Integer || value instanceof Long) return String.valueOf(value);
        if (value instanceof Iterable) {
            StringJoiner elements = new StringJoiner(",", "[", "]");
            for (Object element : (Iterable<?>) value) elements.add(json(element));
            return elements.toString();
        }
        StringBuilder text = new StringBuilder("\"");
        for (char c : value.toString().toCharArray()) {
            boolean isPlain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
            text.append(isPlain ? String.valueOf(c) : String.format("\\u%04x", (int) c));
        }
        return text.append('"').toString();
    }
}
