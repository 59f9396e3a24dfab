package trace

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/transport"
)

// ErrSettings reports an OTEL_* variable that cannot be honoured. Its text names the variable
// and never a value that could be a credential.
var ErrSettings = errors.New("no trace is sent")

const (
	localCollector = "http://localhost:4318"
	tracesPath     = "/v1/traces"
	exportTimeout  = 10 * time.Second // of one batch, its tries included
	maxNumber      = 1 << 20          // of any number in a variable
)

// settings holds the parsed OTEL_* variables. The SDK itself reads the limits of spans
// (OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT and its kin).
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
type settings struct {
	on       bool // send to a collector
	content  bool // include prompts and answers
	url      string
	host     string // of the collector, with its port: fit to be shown
	json     bool
	gzip     bool
	headers  http.Header
	timeout  time.Duration
	sampler  sdktrace.Sampler
	batch    []sdktrace.BatchSpanProcessorOption
	resource []attribute.KeyValue
}

// variables reads the environment and keeps the first error.
type variables struct {
	getenv func(string) string
	err    error
}

// readSettings parses the environment. With an error nothing is sent.
func readSettings(getenv func(string) string, allowHTTP bool) (settings, error) {
	v := &variables{getenv: getenv}
	if v.getenv == nil {
		v.getenv = func(string) string { return "" }
	}
	s := settings{sampler: sdktrace.ParentBased(sdktrace.AlwaysSample()), content: v.content(), on: v.enabled()}
	if s.on {
		v.exporter(&s, allowHTTP)
		s.sampler = v.sampler()
		s.batch = v.batch()
		for _, p := range v.pairs("OTEL_RESOURCE_ATTRIBUTES") {
			s.resource = append(s.resource, attribute.String(p.key, p.value))
		}
		if name := v.text("OTEL_SERVICE_NAME"); name != "" {
			s.resource = append(s.resource, attribute.String("service.name", name))
		}
	}
	if v.err != nil {
		s.on, s.sampler = false, sdktrace.AlwaysSample()
	}
	return s, v.err
}

func (v *variables) text(name string) string { return strings.TrimSpace(v.getenv(name)) }

// refuse keeps the first reason. It repeats no values except those from closed lists.
func (v *variables) refuse(name, why string) {
	if v.err == nil {
		v.err = fmt.Errorf("%w: %s %s", ErrSettings, name, why)
	}
}

// exporterVariable returns an exporter's variable for traces, or else the one for all signals.
func (v *variables) exporterVariable(name string) (variable, value string) {
	traces := "OTEL_EXPORTER_OTLP_TRACES_" + name
	if value := v.text(traces); value != "" {
		return traces, value
	}
	return "OTEL_EXPORTER_OTLP_" + name, v.text("OTEL_EXPORTER_OTLP_" + name)
}

// enabled reports whether a collector was named. Unlike the convention's default, nothing is
// sent to this machine if nothing is set.
func (v *variables) enabled() bool {
	if strings.EqualFold(v.text("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	exporters := strings.ToLower(v.text("OTEL_TRACES_EXPORTER"))
	switch exporters {
	case "none":
		return false
	case "otlp":
		return true
	case "":
		_, endpoint := v.exporterVariable("ENDPOINT")
		return endpoint != ""
	}
	v.refuse("OTEL_TRACES_EXPORTER", fmt.Sprintf("is %q; otlp and none are supported, and --trace FILE writes a "+
		"local trace", guard.Line(exporters, 40)))
	return false
}

// content reads the convention's switch and its newer values; no span events are made.
func (v *variables) content() bool {
	wanted := strings.ToLower(v.text("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"))
	return slices.Contains([]string{"true", "span_only", "span_and_event"}, wanted)
}

// exporter reads the OTEL_EXPORTER_OTLP_* variables.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/
func (v *variables) exporter(s *settings, allowHTTP bool) {
	name, protocol := v.exporterVariable("PROTOCOL")
	switch strings.ToLower(protocol) {
	case "", "http/protobuf":
	case "http/json":
		s.json = true
	default:
		v.refuse(name, fmt.Sprintf("is %q; http/protobuf and http/json are supported, mostly on port 4318",
			guard.Line(protocol, 40)))
	}
	name, compression := v.exporterVariable("COMPRESSION")
	switch strings.ToLower(compression) {
	case "", "none":
	case "gzip":
		s.gzip = true
	default:
		v.refuse(name, "is neither gzip nor none")
	}
	name, timeout := v.exporterVariable("TIMEOUT")
	s.timeout = time.Duration(v.number(name, timeout, int(exportTimeout/time.Millisecond))) * time.Millisecond
	v.endpoint(s, allowHTTP)
	name, _ = v.exporterVariable("HEADERS")
	s.headers = v.headers(name)
}

func (v *variables) endpoint(s *settings, allowHTTP bool) {
	name, endpoint := v.exporterVariable("ENDPOINT")
	u, err := transport.CheckURL(cmp.Or(endpoint, localCollector), allowHTTP)
	if err != nil {
		v.refuse(name, fmt.Sprintf("cannot be used: %v (plain http beyond this machine needs allow-http)", err))
		return
	}
	if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		u = u.JoinPath(tracesPath)
	}
	s.url, s.host = u.String(), u.Host
}

// number parses a positive number; an empty value gives fallback.
func (v *variables) number(name, value string, fallback int) int {
	if value == "" {
		return fallback
	}
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 || n > maxNumber {
		v.refuse(name, fmt.Sprintf("is not a whole number from 1 to %d", maxNumber))
		return fallback
	}
	return n
}

// batch reads the OTEL_BSP_* variables, of which the SDK would accept any number.
func (v *variables) batch() []sdktrace.BatchSpanProcessorOption {
	of := func(name string, fallback int) int { return v.number(name, v.text(name), fallback) }
	queue := of("OTEL_BSP_MAX_QUEUE_SIZE", sdktrace.DefaultMaxQueueSize)
	size := min(queue, of("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", sdktrace.DefaultMaxExportBatchSize))
	delay := of("OTEL_BSP_SCHEDULE_DELAY", sdktrace.DefaultScheduleDelay)
	timeout := of("OTEL_BSP_EXPORT_TIMEOUT", sdktrace.DefaultExportTimeout)
	return []sdktrace.BatchSpanProcessorOption{
		sdktrace.WithMaxQueueSize(queue), sdktrace.WithMaxExportBatchSize(size),
		sdktrace.WithBatchTimeout(time.Duration(delay) * time.Millisecond),
		sdktrace.WithExportTimeout(time.Duration(timeout) * time.Millisecond),
	}
}

// sampler reads OTEL_TRACES_SAMPLER and its argument.
func (v *variables) sampler() sdktrace.Sampler {
	name, parent := strings.CutPrefix(strings.ToLower(v.text("OTEL_TRACES_SAMPLER")), "parentbased_")
	var s sdktrace.Sampler
	switch name {
	case "":
		s, parent = sdktrace.AlwaysSample(), true
	case "always_on":
		s = sdktrace.AlwaysSample()
	case "always_off":
		s = sdktrace.NeverSample()
	case "traceidratio":
		s = sdktrace.TraceIDRatioBased(v.ratio())
	default:
		v.refuse("OTEL_TRACES_SAMPLER", "is none of always_on, always_off and traceidratio, with parentbased_ "+
			"before it or not")
		s = sdktrace.NeverSample()
	}
	if parent {
		return sdktrace.ParentBased(s)
	}
	return s
}

func (v *variables) ratio() float64 {
	const name = "OTEL_TRACES_SAMPLER_ARG"
	ratio, err := strconv.ParseFloat(cmp.Or(v.text(name), "1"), 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) {
		v.refuse(name, "is not a number from 0 to 1")
		return 0
	}
	return ratio
}

type pair struct{ key, value string }

// pairs parses a list in the form of W3C Baggage without metadata: name=value,name=value,
// with values percent-encoded. Empty entries are skipped.
// https://www.w3.org/TR/baggage/#header-content
func (v *variables) pairs(name string) []pair {
	var all []pair
	for i, entry := range strings.Split(v.text(name), ",") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		key, raw, found := strings.Cut(entry, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(raw))
		// Without the = the whole entry may be a credential: it is not repeated.
		if !found || key == "" || err != nil || !utf8.ValidString(key+value) {
			v.refuse(name, fmt.Sprintf("has no name=value, with the value percent-encoded, as its entry %d", i+1))
			return nil
		}
		all = append(all, pair{key, value})
	}
	return all
}

// headers reads the headers of every request to the collector.
func (v *variables) headers(name string) http.Header {
	all := http.Header{}
	for i, p := range v.pairs(name) {
		if !token().MatchString(p.key) || strings.ContainsFunc(p.value, unicode.IsControl) {
			v.refuse(name, fmt.Sprintf("has an entry, number %d, that cannot be a header", i+1))
			return nil
		}
		all.Set(p.key, p.value)
	}
	return all
}

// token matches a valid header name (RFC 9110, 5.6.2).
var token = pattern.Lazy("^[a-zA-Z0-9!#$%&'*+.^_`|~-]+$")
