// Lets Porcupine check that a history of requests is linearizable: each request had its effect at one moment between
// its first call and its last answer, and each answer is that of the whole catalogue at that moment.
//
// Otherwise, the file HISTORY.html shows where Porcupine got stuck.
//
//	check_history HISTORY
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// More than enough for any history of the tests. A check that takes longer has failed.
const limit = 5 * time.Minute

// A request and its answer. Texts of pets are those of their JSON.
type operation struct {
	Call, Return  int64
	Kind          string // add, change, remove, get or list
	ID            int    // of the pet to change, remove or get
	Expected      string // a change or removal: the text of the pet that its If-Match names
	Text          string // the pet in the answer; of a removal, its outcome
	Status        string // a list: its query, and the texts of its pets
	Cursor, Limit int
	Pets          []string
}

// The texts of answers without a pet.
const notFound, notExpected, removed = "404", "412", "204"

// The texts of all pets: the pet with id N is at N-1. A removed pet has an empty text.
type catalogue []string

func (c catalogue) get(id int) string {
	if id > len(c) {
		return ""
	}
	return c[id-1]
}

func (c catalogue) list(page operation) (pets []string) {
	last := len(c)
	if page.Cursor > 0 {
		last = min(last, page.Cursor-1)
	}
	for id := last; id > 0 && len(pets) < page.Limit; id-- {
		text := c.get(id)
		if text != "" && (page.Status == "" || strings.Contains(text, `"status":"`+page.Status+`"`)) {
			pets = append(pets, text)
		}
	}
	return pets
}

func step(state, input, _ any) (bool, any) {
	c, request := state.(catalogue), input.(operation)
	switch request.Kind {
	case "add":
		isNext := strings.HasPrefix(request.Text, fmt.Sprintf(`{"id":%d,`, len(c)+1))
		return isNext, append(slices.Clone(c), request.Text)
	case "change", "remove":
		switch c.get(request.ID) {
		case "":
			return request.Text == notFound, c
		case request.Expected:
			next := slices.Clone(c)
			next[request.ID-1] = request.Text
			if request.Kind == "remove" {
				next[request.ID-1] = ""
				return request.Text == removed, next
			}
			return strings.HasPrefix(request.Text, "{\"id\":"), next
		}
		return request.Text == notExpected, c
	case "get":
		text := c.get(request.ID)
		if text == "" {
			text = notFound
		}
		return request.Text == text, c
	}
	return slices.Equal(c.list(request), request.Pets), c
}

func main() {
	var requests []operation
	content, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(content, &requests)
	}
	if err != nil {
		log.Fatal("No history: ", err)
	}
	history := make([]porcupine.Operation, len(requests))
	for i, it := range requests {
		history[i] = porcupine.Operation{Input: it, Call: it.Call, Return: it.Return}
	}
	model := porcupine.Model{
		Init:  func() any { return catalogue{} },
		Step:  step,
		Equal: func(one, other any) bool { return slices.Equal(one.(catalogue), other.(catalogue)) },
	}
	verdict, info := porcupine.CheckOperationsVerbose(model, history, limit)
	fmt.Println(verdict)
	if verdict != porcupine.Ok {
		porcupine.VisualizePath(model, info, os.Args[1]+".html")
	}
}
