package settings

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/pattern"
)

// field reads and shows one setting. show returns nil if a text, key or time is not set;
// for other types it returns the value they have then, such as 0. Variables are read only
// while show returns nil, so a number can have none. If bare is set, the flag needs no
// value.
type field struct {
	set  func(string) error
	show func() any
	bare bool
}

// text accepts any text.
func text(at *string) field { return checked(at, func(string) error { return nil }) }

// checked is a text for which check returns no error.
func checked(at *string, check func(string) error) field {
	return parsed(at, func(v string) (string, error) { return v, check(v) }, orNil)
}

// glob is a pattern for files.
func glob(at *string) field {
	return checked(at, func(v string) error {
		if !doublestar.ValidatePattern(v) {
			return fmt.Errorf("%q is not a valid glob", v)
		}
		return nil
	})
}

// secret is a text of which only the presence is shown.
func secret(at *string) field {
	f := text(at)
	f.show = func() any { return showPresence(*at != "") }
	return f
}

// parsed is a setting read by parse and shown by show.
func parsed[T any](at *T, parse func(string) (T, error), show func(T) any) field {
	return field{
		set: func(v string) error {
			read, err := parse(v)
			if err == nil {
				*at = read
			}
			return err
		},
		show: func() any { return show(*at) },
	}
}

// sealingKey reads a base64 key, and shows only whether it is set.
func sealingKey(at *checkpoint.Key) field {
	return parsed(at, checkpoint.ParseKey, func(k checkpoint.Key) any { return showPresence(k != checkpoint.Key{}) })
}

// showPresence shows whether a credential is set, and no more.
func showPresence(there bool) any {
	if !there {
		return nil
	}
	return "(set)"
}

func orNil[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

// address is a URL, shown without its user and query, which may hold a key.
func address(at *string) field {
	f := text(at)
	f.show = func() any {
		u, err := url.Parse(*at)
		switch {
		case *at == "":
			return nil
		case err != nil:
			return "(hidden)"
		}
		if u.User = nil; u.RawQuery != "" {
			u.RawQuery = "..."
		}
		return u.String()
	}
	return f
}

// choice accepts only one of the known values.
func choice[T ~string](at *T, known ...T) field {
	return parsed(at, func(v string) (T, error) {
		if slices.Contains(known, T(v)) {
			return T(v), nil
		}
		all := make([]string, len(known))
		for i, k := range known {
			all[i] = string(k)
		}
		return "", fmt.Errorf("%q is not one of %s", v, strings.Join(all, ", "))
	}, func(v T) any { return string(v) })
}

// severityOrNone reads a severity; "none" means no severity.
func severityOrNone(at *finding.Severity) field {
	const none finding.Severity = "none"
	f := choice(at, append([]finding.Severity{none}, finding.Severities()...)...)
	return field{
		set: func(v string) error {
			err := f.set(v)
			if *at == none {
				*at = ""
			}
			return err
		},
		show: func() any { return string(cmp.Or(*at, none)) },
	}
}

// number reads an integer from low to high.
func number[T int | int64](at *T, low, high T) field {
	return parsed(at, func(v string) (T, error) {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || T(n) < low || T(n) > high {
			err = fmt.Errorf("%q is not a number from %d to %d", v, low, high)
		}
		return T(n), err
	}, func(n T) any { return n })
}

func boolean(at *bool) field {
	f := parsed(at, func(v string) (bool, error) {
		if v != "true" && v != "false" {
			return false, fmt.Errorf("%q is not one of true, false", v)
		}
		return v == "true", nil
	}, func(v bool) any { return v })
	f.bare = true
	return f
}

// digits reads exactly n hex digits and stores them in lower case.
func digits(at *string, n int) field {
	return parsed(at, func(v string) (string, error) {
		low := strings.ToLower(v)
		if len(low) != n || strings.Trim(low, "0123456789abcdef") != "" {
			return "", fmt.Errorf("%q is not %d hex digits", v, n)
		}
		return low, nil
	}, orNil)
}

var draftForm = pattern.Lazy(`^([1-9][0-9]{0,8})-([0-9a-fA-F]{16})$`)

// draftName reads a pull request's number and a draft's code, and rejects them if the
// inputs for either say otherwise. Its row must follow theirs.
func draftName(pull *int, draft *string) field {
	return field{
		set: func(v string) error {
			parts := draftForm().FindStringSubmatch(v)
			if parts == nil {
				return fmt.Errorf("%.60q is not a pull request's number and a draft's code, such as "+
					"42-3f9c2a71be04d855", v)
			}
			number, err := strconv.Atoi(parts[1])
			code := strings.ToLower(parts[2])
			switch {
			case *pull != 0 && *pull != number:
				return fmt.Errorf("%s is a draft of #%d, and the input pull-request says %d", v, number, *pull)
			case *draft != "" && *draft != code:
				return fmt.Errorf("%s is another draft than that of the input code, %s", v, *draft)
			}
			*pull, *draft = number, code
			return err
		},
		show: func() any { return nil },
	}
}

// amount reads an amount in USD over 0.
func amount(at *cost.MicroUSD) field {
	return parsed(at, cost.ParseUSD, func(v cost.MicroUSD) any { return orNil(config.Dollars(v)) })
}

func duration(at *time.Duration) field { return parsed(at, ParseSpan, formatSpan) }

var spans = []struct {
	name   string
	length time.Duration
}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// ParseSpan parses a number of seconds, minutes, hours or days: 40s, 45m, 36h, 14d.
func ParseSpan(text string) (time.Duration, error) {
	for _, u := range spans {
		number, is := strings.CutSuffix(text, u.name)
		if n, err := strconv.Atoi(number); is && err == nil && n >= 1 && n <= 10_000 {
			return time.Duration(n) * u.length, nil
		}
	}
	return 0, fmt.Errorf("%q is not a time such as 45m, 36h or 14d", text)
}

// formatSpan formats a time as ParseSpan reads it, nil for 0.
func formatSpan(d time.Duration) any {
	for _, u := range spans {
		if d > 0 && d%u.length == 0 {
			return fmt.Sprintf("%d%s", d/u.length, u.name)
		}
	}
	return nil
}
