package main

import (
	"bytes"
	"encoding/json"
	"os"
	"sync"
	"time"
)

// Recorder records what the clients of a test did. All goroutines may share one.
type Recorder struct {
	mutex        sync.Mutex
	transactions []*Transaction
}

// Session is one client: its transactions follow each other. Each goroutine has its own.
type Session struct {
	recorder *Recorder
	name     string
	last     *Transaction
}

// Transaction has an unknown outcome unless Commit or Abort is called: it may have taken effect.
type Transaction struct {
	recorder   *Recorder
	Session    string            `json:"session"`
	Op         string            `json:"op"`
	Operations []json.RawMessage `json:"value"`
	Start      time.Duration     `json:"start"`
	End        time.Duration     `json:"end"`
	Outcome    string            `json:"outcome"`
}

// Differences to it are measured by a clock that is never set.
var began = time.Now()

func (r *Recorder) Session(name string) *Session { return &Session{recorder: r, name: name} }

// Begin starts a transaction. Call it before the first statement.
func (s *Session) Begin() *Transaction {
	s.recorder.mutex.Lock()
	defer s.recorder.mutex.Unlock()
	// One of unknown outcome may take effect after those that follow, so these are another session.
	if s.last != nil && s.last.Outcome == "unknown" {
		s.name += "+"
	}
	now := time.Since(began)
	s.last = &Transaction{s.recorder, s.name, "txn", []json.RawMessage{}, now, now, "unknown"}
	s.recorder.transactions = append(s.recorder.transactions, s.last)
	return s.last
}

// Read records what a read returned: a string, an integer, or a slice; nil if there was nothing.
func (t *Transaction) Read(key, value any) { t.add("r", key, value) }

// Write and Append are called before the statement.
func (t *Transaction) Write(key, value any)    { t.add("w", key, value) }
func (t *Transaction) Append(key, element any) { t.add("append", key, element) }

// Commit and Abort say what is known to have become of the transaction.
func (t *Transaction) Commit() { t.finish("committed") }
func (t *Transaction) Abort()  { t.finish("aborted") }

func (t *Transaction) add(word string, key, value any) {
	operation, err := json.Marshal([]any{word, key, value})
	if err != nil {
		panic(err)
	}
	t.change(func() { t.Operations = append(t.Operations, operation) })
}

func (t *Transaction) finish(outcome string) {
	t.change(func() { t.Outcome, t.End = outcome, time.Since(began) })
}

func (t *Transaction) change(how func()) {
	t.recorder.mutex.Lock()
	defer t.recorder.mutex.Unlock()
	if t.Outcome != "unknown" {
		panic("the transaction has " + t.Outcome)
	}
	how()
}

// Save writes a line for each transaction so far, in the order in which they began.
func (r *Recorder) Save(path string) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var lines bytes.Buffer
	for _, t := range r.transactions {
		if err := json.NewEncoder(&lines).Encode(t); err != nil {
			return err
		}
	}
	return os.WriteFile(path, lines.Bytes(), 0o644)
}
