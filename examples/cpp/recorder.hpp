#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <fstream>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Records what the clients of a test did. All threads may share one.
struct Recorder {
    // Has an unknown outcome unless commit or abort is called: it may have taken effect.
    struct Transaction {
        Transaction(Recorder& recorder, std::string session) : recorder(recorder), session(std::move(session)) {}

        // What a read returned: a string, an integer, or a vector; an empty optional if there was nothing.
        template <class Key, class Value> void read(const Key& key, const Value& value) { add("r", key, value); }

        // Called before the statement, as append is.
        template <class Key, class Value> void write(const Key& key, const Value& value) { add("w", key, value); }
        template <class Key, class Value> void append(const Key& key, const Value& element) { add("append", key, element); }

        // It is known to have committed; after abort, to have no effect.
        void commit() { change([&] { outcome = "committed", end = now(); }); }
        void abort() { change([&] { outcome = "aborted", end = now(); }); }

    private:
        friend Recorder;

        template <class Key, class Value> void add(const char* word, const Key& key, const Value& value) {
            const std::string operation = "[" + json(word) + "," + json(key) + "," + json(value) + "]";
            change([&] { operations += (operations.empty() ? "" : ",") + operation; });
        }

        template <class How> void change(How how) {
            const std::lock_guard lock(recorder.mutex);
            if (outcome != "unknown") throw std::logic_error("the transaction has " + outcome);
            how();
        }

        Recorder& recorder;
        std::string session, operations, outcome = "unknown";
        long long start = now(), end = start;
    };

    // One client: its transactions follow each other. Each thread has its own.
    struct Session {
        Recorder& recorder;
        std::string name;
        Transaction* last = nullptr;

        // Starts a transaction. Call it before the first statement.
        Transaction& begin() {
            const std::lock_guard lock(recorder.mutex);
            // One of unknown outcome may take effect after those that follow, so these are another session.
            if (last && last->outcome == "unknown") name += "+";
            return *(last = &recorder.transactions.emplace_back(recorder, name));
        }
    };

    Session session(const std::string& name) { return {*this, name}; }

    // Writes a line for each transaction so far, in the order in which they began.
    void save(const std::string& path) {
        const std::lock_guard lock(mutex);
        std::ofstream file(path);
        for (const Transaction& t : transactions)
            file << "{\"session\":" << json(t.session) << ",\"op\":\"txn\",\"value\":[" << t.operations << "],\"start\":"
                 << t.start << ",\"end\":" << t.end << ",\"outcome\":" << json(t.outcome) << "}\n";
        if (!file.flush()) throw std::runtime_error("cannot write " + path);
    }

private:
    static long long now() {
        return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    template <class T> static std::enable_if_t<std::is_integral_v<T>, std::string> json(T value) {
        return std::to_string(value);
    }
    static std::string json(std::nullptr_t) { return "null"; }
    static std::string json(const std::string& value) {
        std::string text = "\"";
        for (const unsigned char c : value) {
            char code[8];
            std::snprintf(code, sizeof code, c < ' ' || c == '"' || c == '\\' ? "\\u%04x" : "%c", c);
            text += code;
        }
        return text + "\"";
    }
    template <class T> static std::string json(const std::optional<T>& value) {
        return value ? json(*value) : json(nullptr);
    }
    template <class T> static std::string json(const std::vector<T>& values) {
        std::string text;
        for (const T& value : values) text += (text.empty() ? "" : ",") + json(value);
        return "[" + text + "]";
    }

    std::mutex mutex;
    std::deque<Transaction> transactions;  // where they stay when it grows
};
