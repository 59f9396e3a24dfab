package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/injection"
)

// specimen is one row of a file of cases: an attack that is to be found, a benign
// look-alike, or neither.
type specimen struct {
	ID       string `json:"id"`
	Channel  string `json:"channel"`
	Payload  string `json:"payload"`
	Lang     string `json:"lang"`
	Encoding string `json:"encoding"`
	Detector bool   `json:"detector"`
	Benign   bool   `json:"benign"`
}

const (
	ownCases = "internal/injection/testdata" // from the module's root
	middle   = 200                           // lines of the carrier before a buried sample
)

// detect prints how well the detector of injections does on files of cases.
func detect(args []string, out io.Writer) error {
	var files []string
	var real clones
	flags := flag.NewFlagSet("detect", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Func("cases", "a file of cases, again and again", func(path string) error {
		files = append(files, path)
		return nil
	})
	flags.StringVar(&real.root, "clones", "", "a folder of clones, in place of cases")
	flags.IntVar(&real.commits, "commits", 300, "the newest of each clone")
	flags.BoolVar(&real.list, "list", false, "print what is flagged")
	if err := cmp.Or(flags.Parse(args), noMore(flags)); err != nil {
		return fmt.Errorf("%w\n%w", err, errUsage)
	}
	if real.root != "" {
		return real.measure(out)
	}
	if files == nil {
		files = []string{filepath.Join(ownCases, "dev.jsonl"), filepath.Join(ownCases, "test.jsonl")}
	}
	carrier, err := os.ReadFile(filepath.Join(ownCases, "carrier.txt"))
	if err != nil {
		return fmt.Errorf("reading the carrier, run from the module's root: %w", err)
	}
	fmt.Fprintf(out, "Carrier alone: %d warnings. Both detectors: %s ms for 100 KB.\n",
		warnings(injection.Scan(string(carrier))), short(perHundred(string(carrier))))
	for _, path := range files {
		samples, err := readSamples(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n## %s\n\n", filepath.Base(path))
		tell(out, samples, string(carrier))
	}
	return nil
}

// readSamples reads rows and expands their marks. Keys that it does not know
// are another tool's.
func readSamples(path string) ([]specimen, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list []specimen
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s specimen
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, len(list)+1, err)
		}
		s.Payload = expand(s.Payload)
		list = append(list, s)
	}
	if len(list) == 0 && lines.Err() == nil {
		return nil, errors.New(path + " holds no case")
	}
	return list, lines.Err()
}

var expansion = regexp.MustCompile(`\{\{(repeat|fence):([^{}]*)\}\}`)

// expand replaces the marks {{repeat:TEXT:N}} and {{fence:open}}. Made-up
// credentials stay marks: they are no instructions.
func expand(payload string) string {
	return expansion.ReplaceAllStringFunc(payload, func(mark string) string {
		parts := expansion.FindStringSubmatch(mark)
		if parts[1] == "fence" {
			return map[string]string{"open": "<<<data 0000>>>", "close": "<<<end 0000>>>"}[parts[2]]
		}
		at := strings.LastIndexByte(parts[2], ':')
		count, err := strconv.Atoi(parts[2][at+1:])
		if at < 0 || err != nil || count < 0 || count > 1e6 {
			return mark
		}
		return strings.Repeat(parts[2][:at], count)
	})
}

// bury puts a text in the middle of a carrier.
func bury(payload, carrier string) string {
	lines := strings.Split(carrier, "\n")
	return strings.Join(slices.Concat(lines[:middle], strings.Split(payload, "\n"), lines[middle:]), "\n")
}

func warnings(r injection.Report) int { return len(r.Hidden) + len(r.Instructions) }

// tally counts the samples of a group that were flagged.
type tally struct{ hits, total int }

func (t *tally) add(hit bool) {
	t.total++
	if hit {
		t.hits++
	}
}

func (t tally) rate() float64 { return float64(t.hits) / float64(max(1, t.total)) }

// String is a share with its 95 % interval after Wilson.
func (t tally) String() string {
	const z = 1.96
	n, p := float64(max(1, t.total)), t.rate()
	centre, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	low, high := (centre-half)/(1+z*z/n), (centre+half)/(1+z*z/n)
	return fmt.Sprintf("%d/%d = %.1f %% (%.1f to %.1f)", t.hits, t.total, 100*p, 100*max(0, low), 100*min(1, high))
}

// outcome is what a file of cases comes to.
type outcome struct {
	recall, wrong, hiddenWrong tally            // any warning on attacks; any, and hidden ones, on benign rows
	buried                     tally            // the same verdict alone and buried
	groups                     map[string]tally // attacks by "encoding", "lang" or "channel", a space and the value
}

func measureDetector(samples []specimen, carrier string) outcome {
	o := outcome{groups: map[string]tally{}}
	for _, s := range samples {
		if !s.Detector && !s.Benign {
			continue
		}
		report := injection.Scan(s.Payload)
		o.buried.add(injection.Scan(bury(s.Payload, carrier)).Found() == report.Found())
		if s.Benign {
			o.wrong.add(report.Found())
			o.hiddenWrong.add(len(report.Hidden) > 0)
			continue
		}
		o.recall.add(report.Found())
		for _, group := range []string{"encoding " + s.Encoding, "lang " + s.Lang, "channel " + s.Channel} {
			t := o.groups[group]
			t.add(report.Found())
			o.groups[group] = t
		}
	}
	return o
}

func tell(out io.Writer, samples []specimen, carrier string) {
	o := measureDetector(samples, carrier)
	fmt.Fprintf(out, "| figure | share (95 %% interval) |\n|---|---|\n| recall | %v |\n| false positives | %v |\n",
		o.recall, o.wrong)
	fmt.Fprintf(out, "| hidden characters found on benign rows | %v |\n| same verdict buried | %v |\n\n", o.hiddenWrong,
		o.buried)
	for _, by := range []string{"encoding", "lang", "channel"} {
		var cells []string
		for group, t := range o.groups {
			if value, ours := strings.CutPrefix(group, by+" "); ours {
				cells = append(cells, fmt.Sprintf("%s %d/%d", value, t.hits, t.total))
			}
		}
		slices.Sort(cells)
		fmt.Fprintf(out, "- recall by %s: %s\n", by, strings.Join(cells, ", "))
	}
}

// perHundred is the least time in milliseconds that 100 KB of a text take.
func perHundred(text string) float64 {
	text = strings.Repeat(text, 1+100_000/len(text))[:100_000]
	best := math.Inf(1)
	for range 5 {
		start := time.Now()
		injection.Scan(text)
		best = min(best, float64(time.Since(start).Microseconds())/1000)
	}
	return best
}
