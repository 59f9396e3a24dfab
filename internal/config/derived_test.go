package config_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
)

var update = flag.Bool("update", false, "write the schema, the sample and its copy in SETTINGS.md anew")

const (
	sampleFile = "../../testdata/pr-review.yml"
	pageFile   = "../../.github/SETTINGS.md"
	anew       = "go test ./internal/config -run TestWhatIsDerived -update"
)

// TestWhatIsDerivedFromTheKeysIsAsTheySay writes, with -update, a line into schema and sample for
// each key with facts that they lack, and corrects what the schema says of bounds, values and
// defaults. It names the keys that only a person can describe, and that are in one of them not yet.
func TestWhatIsDerivedFromTheKeysIsAsTheySay(t *testing.T) {
	t.Parallel()
	schema, sample, page := lines(t, schemaFile), lines(t, sampleFile), lines(t, pageFile)
	for _, v := range config.Default().Values() {
		known := facts(v)
		if known == nil {
			continue // written by hand
		}
		schema.put(v.Key, `"%s": {`, "    ", func(old string) string { return described(t, v.Key, old, known) })
		sample.put(v.Key, `%s:`, "  ", func(old string) string {
			if old == "" {
				_, name, _ := strings.Cut("."+v.Key, ".")
				old = fmt.Sprintf("%-27s # %s", strings.Repeat("  ", strings.Count(v.Key, "."))+
					name[strings.LastIndex(name, ".")+1:]+": "+known.example(), v.Key)
			}
			return old
		})
	}
	from := slices.IndexFunc(page.text, func(l string) bool { return strings.HasPrefix(l, "# yaml-language-server") })
	to := from + slices.Index(page.text[from:], "```")
	page.text = slices.Replace(page.text, from, to, sample.text[:len(sample.text)-1]...)
	for _, d := range []*derived{schema, sample, page} {
		if text := strings.Join(d.text, "\n"); *update {
			require.NoError(t, os.WriteFile(d.file, []byte(text), 0o644))
		} else {
			require.Equal(t, text, d.was, "%s: %s", d.file, anew)
		}
	}
	require.Empty(t, undescribed(t, schema, sample), "nothing says what these keys take: describe them by hand")
}

// undescribed are the keys that schema or sample lack.
func undescribed(t *testing.T, schema, sample *derived) (all []string) {
	t.Helper()
	type property struct{ Properties map[string]*property }
	var root property
	require.NoError(t, json.Unmarshal([]byte(strings.Join(schema.text, "\n")), &root))
	_, shown, err := config.File{Path: sample.file}.Read([]byte(strings.Join(sample.text, "\n")))
	require.NoError(t, err)
	for _, v := range config.Default().Values() {
		at := &root
		for _, name := range strings.Split(v.Key, ".") {
			if at != nil {
				at = at.Properties[name]
			}
		}
		if at == nil {
			all = append(all, v.Key+" in "+schema.file)
		}
		if _, is := shown[v.Key]; !is {
			all = append(all, v.Key+" in "+sample.file)
		}
	}
	return all
}

// fact is what the schema says of a key's value, in its order.
type fact struct {
	name  string
	value any
}

type factList []fact

// facts are what the key's own mistakes say that it takes, and its default. They are nil unless it
// is a whole number, a boolean, an amount or a choice.
func facts(v config.Value) (all factList) {
	whole := regexp.MustCompile(`expected a whole number from (\d+) to (\d+)`)
	said := mistaken(v.Key, "[]")
	bounds := whole.FindStringSubmatch(said)
	switch {
	case bounds != nil:
		all = factList{{"type", "integer"}, {"minimum", json.RawMessage(bounds[1])},
			{"maximum", json.RawMessage(bounds[2])}}
	case strings.Contains(said, "expected true or false"):
		all = factList{{"type", "boolean"}}
	case strings.Contains(said, "expected an amount in USD"):
		all = factList{{"$ref", "#/$defs/cap"}}
	case strings.Contains(said, "expected text"):
		said = mistaken(v.Key, `"?"`)
		_, known, choice := strings.Cut(said, " is not one of ")
		if choice && strings.Contains(mistaken(v.Key, `"a:b"`), " is not one of ") {
			all = factList{{"enum", strings.Split(strings.Split(known, "\n")[0], ", ")}}
			break
		}
		return nil // a text under a rule, whose pattern is the schema's own
	default:
		return nil
	}
	if _, list := v.Value.([]string); v.Value != nil && !list {
		all = append(all, fact{"default", v.Value})
	}
	return all
}

// mistaken is what Parse says of a key with this value.
func mistaken(key, value string) string {
	text := strings.ReplaceAll(key, ".", ": {") + ": " + value + strings.Repeat("}", strings.Count(key, "."))
	if _, err := config.Parse("f.yml", []byte(text)); err != nil {
		return err.Error()
	}
	return ""
}

func (f factList) get(name string) any {
	at := slices.IndexFunc(f, func(f fact) bool { return f.name == name })
	if at < 0 {
		return nil
	}
	return f[at].value
}

// example is a value for the sample.
func (f factList) example() string {
	for _, name := range []string{"default", "maximum"} {
		if v := f.get(name); v != nil {
			return fmt.Sprint(plain(v))
		}
	}
	if known, ok := f.get("enum").([]string); ok {
		return known[0]
	}
	return "1.00"
}

func plain(v any) any {
	if raw, ok := v.(json.RawMessage); ok {
		return string(raw)
	}
	return v
}

// described is the schema's line for a key: as it was, with what is known of the key.
func described(t *testing.T, key, old string, known factList) string {
	t.Helper()
	indent, comma := strings.Repeat("    ", 1+strings.Count(key, ".")), strings.HasSuffix(old, ",")
	name := key[strings.LastIndex(key, ".")+1:]
	if old == "" {
		known = append(known, fact{"description", key})
	} else if !strings.HasSuffix(strings.TrimSuffix(old, ","), "}") {
		return old // of several lines: written by hand
	}
	_, object, _ := strings.Cut(old, ": ")
	var was map[string]any
	if old != "" {
		require.NoError(t, json.Unmarshal([]byte(strings.TrimSuffix(object, ",")), &was), old)
	}
	for _, further := range []string{"pattern", "maxLength", "description"} {
		if v, ok := was[further]; ok {
			known = append(known, fact{further, v})
		}
	}
	if ref, ok := was["$ref"]; ok && known.get("$ref") == nil {
		known = slices.DeleteFunc(known, func(f fact) bool { return f.name == "type" })
		known = append(factList{{"$ref", ref}}, known...)
	}
	var parts []string
	for _, f := range known {
		value, err := json.Marshal(f.value)
		require.NoError(t, err)
		parts = append(parts, fmt.Sprintf("%q: %s", f.name, strings.ReplaceAll(string(value), `","`, `", "`)))
	}
	line := fmt.Sprintf("%s%q: { %s }", indent, name, strings.Join(parts, ", "))
	if comma {
		line += ","
	}
	return line
}

// derived is a file with a line for each key, those of a group behind that of the group.
type derived struct {
	file, was string
	text      []string
	last      int // the line of the key before
}

func lines(t *testing.T, file string) *derived {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return &derived{file, string(text), strings.Split(string(text), "\n"), 0}
}

// put replaces the line of a key, or puts one behind the key before it and what is below that.
func (d *derived) put(key, form, step string, line func(old string) string) {
	names, at := strings.Split(key, "."), 0
	outer, margin := "", ""
	if strings.HasSuffix(d.file, ".json") {
		margin = step
	}
	for depth, name := range names {
		found := at
		for ; found < len(d.text); found++ {
			l := d.text[found]
			if strings.HasPrefix(l, margin+fmt.Sprintf(form, name)) {
				break
			}
			if depth > 0 && found > at && l != "" && !strings.HasPrefix(l, outer+" ") {
				found = len(d.text)
			}
		}
		if found >= len(d.text) {
			if depth == len(names)-1 && d.last > at { // else a group of its own is written by hand
				d.insert(margin, line(""))
			}
			return
		}
		at, outer, margin = found, margin, margin+step
	}
	d.text[at], d.last = line(d.text[at]), at
}

func (d *derived) insert(margin, line string) {
	end := d.last + 1
	for end < len(d.text) && strings.HasPrefix(d.text[end], margin+" ") {
		end++
	}
	if strings.HasPrefix(d.text[end], margin+"}") { // the one before has several lines
		end++
	}
	if strings.HasSuffix(d.file, ".json") {
		if strings.HasSuffix(d.text[end-1], ",") {
			line += ","
		} else {
			d.text[end-1] += ","
		}
	}
	d.text, d.last = slices.Insert(d.text, end, line), end
}
