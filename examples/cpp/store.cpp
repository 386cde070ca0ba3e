// A key-value store that promises serializable transactions and loses updates; two clients find out.
//
// usage: ./store [--fixed]
#include "recorder.hpp"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

constexpr int clients = 2, rounds = 3;

struct Item {
    std::optional<int> value;
    int version = 0;  // while the key is absent
};

// Keeps the newest version of each key. A transaction commits if the keys that it read are still the same.
class Store {
public:
    explicit Store(bool fixed) : fixed(fixed) {}

    Item get(const std::string& key) {
        const std::lock_guard lock(mutex);
        return items[key];
    }

    bool commit(const std::map<std::string, int>& reads, const std::map<std::string, int>& writes) {
        const std::lock_guard lock(mutex);
        for (const auto& [key, version] : reads) {
            // The bug: a key that was absent when it was read is not compared.
            const bool is_compared = version != 0 || fixed;
            if (is_compared && items[key].version != version) return false;
        }
        for (const auto& [key, value] : writes) items[key] = {value, items[key].version + 1};
        return true;
    }

private:
    std::mutex mutex;
    std::map<std::string, Item> items;
    const bool fixed;
};

// Changes the stock that all clients share; in each round their transactions overlap.
void sell(Store& store, Recorder::Session session, std::atomic<int>& values, std::atomic<int>& met) {
    for (int round = 1; round <= rounds; round++) {
        auto& t = session.begin();
        const Item stock = store.get("stock");
        t.read("stock", stock.value);
        const int value = ++values;
        t.write("stock", value);
        ++met;
        while (met < round * clients) std::this_thread::yield();
        if (store.commit({{"stock", stock.version}}, {{"stock", value}}))
            t.commit();
        else
            t.abort();
    }
}

int main(int count, char** arguments) {
    Store store(count > 1 && arguments[1] == std::string("--fixed"));
    Recorder recorder;
    std::atomic<int> values = 0, met = 0;
    std::vector<std::thread> threads;
    for (int client = 1; client <= clients; client++) {
        auto session = recorder.session("client" + std::to_string(client));
        threads.emplace_back([&, session] { sell(store, session, values, met); });
    }
    for (std::thread& thread : threads) thread.join();
    recorder.save("history.jsonl");
    const int status = std::system("isoscope check history.jsonl --level SER");
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
