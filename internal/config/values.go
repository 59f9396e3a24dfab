package config

import (
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/cost"
)

// Value is what one key of the settings comes to. Its name has dots between the
// keys on the way, such as admission.drafts; a price's ends in its model's name.
type Value struct {
	Key    string
	Value  any    // text, a number, a boolean, a list or map of them; nil where nothing is set
	Source string // where it came from; empty where Values made it
}

// Values lists every key in the order in which they are documented. A value that
// is not set is the default where config knows it, else nil. The values of headers
// and the texts of further fields are left out: they may be credentials.
func (c Config) Values() []Value { return rootKeys(&c).values("") }

// Duration writes a time without the parts that are 0, such as 10m.
func Duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

const hiddenText = "(hidden)"

func hidden(headers map[string]string) any {
	if len(headers) == 0 {
		return nil
	}
	all := map[string]any{}
	for name := range headers {
		all[name] = hiddenText
	}
	return all
}

func body(fields map[string]any) any {
	if len(fields) == 0 {
		return nil
	}
	return textless(fields)
}

// textless is a value with every text in it hidden.
func textless(v any) any {
	switch v := v.(type) {
	case string:
		return hiddenText
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i] = textless(item)
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for name, item := range v {
			all[name] = textless(item)
		}
		return all
	}
	return v
}

// Dollars is an amount as the settings file has it.
func Dollars(m cost.MicroUSD) float64 { return float64(m) / 1e6 }

func dollars(m cost.MicroUSD) any {
	if m == 0 {
		return nil
	}
	return Dollars(m)
}

// set is a value, or nil where it is the one that stands for not set.
func set[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

func at[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}
