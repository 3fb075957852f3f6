// Verifies what deno task publish and deno task prove write, with the libraries of Go's checksum database.
//
//	verify_log checkpoint VKEY_FILE CHECKPOINT
//	verify_log consistency VKEY_FILE OLD_CHECKPOINT FOLDER
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return errors.New("see the first lines of main.go")
	}
	vkey, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	verifier, err := note.NewVerifier(strings.TrimSpace(string(vkey)))
	if err != nil {
		return err
	}
	content, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	switch args[0] {
	case "checkpoint":
		_, err = openCheckpoint(content, verifier)
		return err
	case "consistency":
		old, err := openCheckpoint(content, verifier)
		if err != nil {
			return err
		}
		return verifyConsistency(old, args[3], verifier)
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func openCheckpoint(content []byte, verifier note.Verifier) (tlog.Tree, error) {
	opened, err := note.Open(content, note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() {
		return tlog.Tree{}, errors.New("not a checkpoint of this log")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

func verifyConsistency(old tlog.Tree, folder string, verifier note.Verifier) error {
	content, err := os.ReadFile(filepath.Join(folder, "checkpoint"))
	if err != nil {
		return err
	}
	current, err := openCheckpoint(content, verifier)
	if err != nil {
		return err
	}
	reader := tlog.TileHashReader(current, folderTiles(folder))
	proof, err := tlog.ProveTree(current.N, old.N, reader)
	if err != nil {
		return err
	}
	return tlog.CheckTree(proof, current.N, current.Hash, old.N, old.Hash)
}

// folderTiles reads the tiles of a published folder.
type folderTiles string

func (folderTiles) Height() int { return 8 }

func (folder folderTiles) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var contents [][]byte
	for _, tile := range tiles {
		// The checksum database has the height of its tiles in their paths.
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		content, err := os.ReadFile(filepath.Join(string(folder), path))
		if err != nil {
			return nil, err
		}
		contents = append(contents, content)
	}
	return contents, nil
}

func (folderTiles) SaveTiles([]tlog.Tile, [][]byte) {}
