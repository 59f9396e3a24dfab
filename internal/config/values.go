package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
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
func (c Config) Values() []Value {
	a, o := c.Admission, c.ModelOptions
	all := []Value{
		{Key: "ignore", Value: list(c.Ignore)}, {Key: "max-lines", Value: c.Lines()},
		{Key: "admission.drafts", Value: string(a.Drafts)}, {Key: "admission.bots", Value: string(a.Bots)},
		{Key: "admission.authors", Value: list(a.Authors)},
		{Key: "admission.label", Value: a.Label}, {Key: "admission.skip-label", Value: a.SkipLabel},
		{Key: "admission.on-demand", Value: a.OnDemand},
		{Key: "models.review", Value: set(c.Models.Review)}, {Key: "models.verify", Value: set(c.Models.Verify)},
		{Key: "models.classify", Value: set(c.Models.Classify)}, {Key: "models.redraft", Value: set(c.Models.Redraft)},
		{Key: "verify", Value: !c.NoVerify}, {Key: "classify", Value: !c.NoClassify},
		{Key: "agent.max-turns", Value: cmp.Or(c.Agent.MaxTurns, defaultTurns)},
		{Key: "agent.max-time", Value: Duration(c.Agent.Time())}, {Key: "agent.tools", Value: !c.Agent.NoTools},
		{Key: "model-options.effort", Value: set(o.Effort)}, {Key: "model-options.temperature",
			Value: at(o.Temperature)}, {Key: "model-options.seed", Value: at(o.Seed)},
		{Key: "model-options.max-output-tokens", Value: set(o.MaxOutputTokens)},
		{Key: "model-options.headers", Value: hidden(o.Headers)}, {Key: "model-options.body", Value: body(o.Body)},
		{Key: "model-options.cache-marks", Value: cmp.Or(o.CacheMarks, "auto")},
	}
	all = append(all, c.priceValues()...)
	all = append(all, c.retrievalValues()...)
	all = append(all,
		Value{Key: "max-cost", Value: dollars(c.MaxCost)}, Value{Key: "max-cost-per-pull",
			Value: dollars(c.MaxCostPerPull)}, Value{Key: "max-cost-per-file", Value: dollars(c.MaxCostPerFile)},
		Value{Key: "language", Value: cmp.Or(c.Language, "English")}, Value{Key: "instructions",
			Value: list(c.Instructions)}, Value{Key: "guidelines", Value: c.guidelineValues()},
		Value{Key: "overview", Value: string(cmp.Or(c.Overview, OverviewShow))},
		Value{Key: "report.criteria", Value: c.Report.Criteria}, Value{Key: "report.tests", Value: c.Report.Tests},
		Value{Key: "report.style", Value: c.Report.Style},
		Value{Key: "report.from", Value: string(cmp.Or(c.Report.From, finding.Nit))},
		Value{Key: "report.categories", Value: list(c.Report.Categories)},
		Value{Key: "report.without", Value: list(c.Report.Without)},
		Value{Key: "comments.max", Value: c.Comments.Most()}, Value{Key: "comments.resolve", Value: c.Comments.Resolve},
		Value{Key: "handover", Value: cmp.Or(c.Handover, HandoverSummary)},
		Value{Key: "linters.max-per-rule", Value: c.Linters.Most()},
		Value{Key: "environments", Value: c.environmentValues()},
		Value{Key: "deciders", Value: list(c.Deciders)},
		Value{Key: "modules", Value: c.moduleValues()}, Value{Key: "protected", Value: list(c.Protected)},
		Value{Key: "implement.max-files", Value: c.Implement.Files()},
		Value{Key: "implement.max-lines", Value: c.Implement.Lines()},
		Value{Key: "implement.max-bytes", Value: c.Implement.Bytes()},
		Value{Key: "implement.pull-request", Value: cmp.Or(c.Implement.PullRequest, PullRequests()[0])},
	)
	return append(all, c.Context.contextValues()...)
}

func (c Config) priceValues() []Value {
	var all []Value
	for _, model := range slices.Sorted(maps.Keys(c.Prices)) {
		p := c.Prices[model]
		price := map[string]any{"input": Dollars(p.Input), "cached-input": Dollars(p.CachedInput),
			"output": Dollars(p.Output), "cache-write": Dollars(p.CacheWrite)}
		if p.PerThousand > 0 {
			price = map[string]any{"per-1000": Dollars(p.PerThousand)}
		}
		all = append(all, Value{Key: "prices." + model, Value: price})
	}
	if all == nil {
		all = []Value{{Key: "prices", Value: nil}}
	}
	return all
}

func (c Config) guidelineValues() any {
	all := []any{}
	for _, g := range c.Guidelines {
		all = append(all, map[string]any{"paths": g.Paths, "text": g.Text})
	}
	return all
}

func (c Config) environmentValues() any {
	all := []any{}
	for _, e := range c.Environments {
		all = append(all, map[string]any{"paths": e.Paths, "environment": e.Name})
	}
	return all
}

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

func list(items []string) []string { return append([]string{}, items...) }

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
