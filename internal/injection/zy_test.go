package injection

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

func TestZY(t *testing.T) {
	if os.Getenv("ZY") == "" {
		t.Skip()
	}
	files, hits, bytes := 0, 0, 0
	kinds := map[string]int{}
	filepath.WalkDir(os.Getenv("ZY"), func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !(strings.HasSuffix(p, ".go") || strings.HasSuffix(p, ".md") || strings.HasSuffix(p, ".py") || strings.HasSuffix(p, ".js") || strings.HasSuffix(p, ".txt") || strings.HasSuffix(p, ".yml")) {
			return nil
		}
		b, _ := os.ReadFile(p)
		if len(b) > 1000000 {
			return nil
		}
		files++
		bytes += len(b)
		r := Scan(string(b))
		if len(r.Instructions) > 0 {
			hits++
		}
		for _, h := range r.Instructions {
			kinds[h.Kind]++
			fmt.Printf("I %s:%d %s %.150q\n", p, h.Line, h.Kind, h.Excerpt)
		}
		for _, h := range r.Hidden {
			kinds[h.Kind]++
			if os.Getenv("HH") != "" {
				fmt.Printf("H %s:%d %s %.150q\n", p, h.Line, h.Kind, h.Excerpt)
			}
		}
		return nil
	})
	fmt.Println("files", files, "flagged", hits, "MB", bytes/1e6, kinds)
}
func TestZX(t *testing.T) {
	if os.Getenv("ZX") == "" {
		t.Skip()
	}
	cnt := map[string]int{}
	d := words()
	fs, _ := filepath.Glob(os.Getenv("ZX"))
	for _, p := range fs {
		b, _ := os.ReadFile(p)
		var tk []token
		for i, l := range strings.Split(string(b), "\n") {
			tk = tokenise(tk, fold(l), i)
		}
		for _, x := range tk {
			for _, ph := range d.spaced[key(x.text)] {
				if len(ph.words) == 1 && ph.matches([]token{x}) {
					cnt[ph.words[0]+" <"+x.text+">"]++
				}
			}
		}
	}
	var ks []string
	for k := range cnt {
		ks = append(ks, k)
	}
	sort.Slice(ks, func(i, j int) bool { return cnt[ks[i]] > cnt[ks[j]] })
	for i := 0; i < len(ks); i++ {
		fmt.Println(cnt[ks[i]], ks[i])
	}
}
