// A key-value store that promises serializable transactions and loses updates; two clients find out.
//
// usage: go run recorder.go store.go [--fixed]
package main

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
)

const clients, rounds = 2, 3

type item struct {
	value   int64
	version int // 0 while the key is absent
}

// Store keeps the newest version of each key. A transaction commits if the keys that it read are still the same.
type Store struct {
	mutex sync.Mutex
	items map[string]item
	fixed bool
}

func (s *Store) get(key string) item {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.items[key]
}

func (s *Store) commit(reads map[string]int, writes map[string]int64) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for key, version := range reads {
		// The bug: a key that was absent when it was read is not compared.
		compared := version != 0 || s.fixed
		if compared && s.items[key].version != version {
			return false
		}
	}
	for key, value := range writes {
		s.items[key] = item{value, s.items[key].version + 1}
	}
	return true
}

// sell changes the stock that all clients share; in each round their transactions overlap.
func sell(store *Store, session *Session, values *atomic.Int64, meet []sync.WaitGroup) {
	for round := range meet {
		t := session.Begin()
		stock := store.get("stock")
		if stock.version == 0 {
			t.Read("stock", nil)
		} else {
			t.Read("stock", stock.value)
		}
		value := values.Add(1)
		t.Write("stock", value)
		meet[round].Done()
		meet[round].Wait()
		if store.commit(map[string]int{"stock": stock.version}, map[string]int64{"stock": value}) {
			t.Commit()
		} else {
			t.Abort()
		}
	}
}

func main() {
	fixed := len(os.Args) > 1 && os.Args[1] == "--fixed"
	store := &Store{items: map[string]item{}, fixed: fixed}
	recorder, values, meet := new(Recorder), new(atomic.Int64), make([]sync.WaitGroup, rounds)
	for round := range meet {
		meet[round].Add(clients)
	}
	var all sync.WaitGroup
	for client := 1; client <= clients; client++ {
		session := recorder.Session(fmt.Sprint("client", client))
		all.Add(1)
		go func() {
			defer all.Done()
			sell(store, session, values, meet)
		}()
	}
	all.Wait()
	if err := recorder.Save("history.jsonl"); err != nil {
		panic(err)
	}
	said, err := exec.Command("isoscope", "check", "history.jsonl", "--level", "SER").CombinedOutput()
	fmt.Print(string(said))
	if err != nil {
		fmt.Println("isoscope check:", err)
		os.Exit(1)
	}
}
