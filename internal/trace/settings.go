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
	maxTimeout     = 1 << 20          // milliseconds
)

// settings holds the parsed OTEL_* variables. The SDK itself reads those of the sampler, the resource, the batches
// (OTEL_BSP_*) and the limits of spans.
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
type settings struct {
	on      bool // send to a collector
	content bool // include prompts and answers
	url     string
	host    string // of the collector, with its port: fit to be shown
	headers http.Header
	timeout time.Duration
}

// variables looks up a variable of the environment, without the space around it.
type variables func(name string) string

// readSettings parses the environment. With an error nothing is sent.
func readSettings(getenv func(string) string, allowHTTP bool) (s settings, err error) {
	v := variables(func(name string) string {
		if getenv == nil {
			return ""
		}
		return strings.TrimSpace(getenv(name))
	})
	s.content = slices.Contains([]string{"true", "span_only", "span_and_event"},
		strings.ToLower(v("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT")))
	if s.on, err = v.enabled(); s.on {
		err = v.exporter(&s, allowHTTP)
	}
	s.on = s.on && err == nil
	return s, err
}

func refuse(name, format string, args ...any) error {
	return fmt.Errorf("%w: %s %s", ErrSettings, name, fmt.Sprintf(format, args...))
}

// enabled reports whether a collector was named. Unlike the convention's default, nothing is
// sent to this machine if nothing is set.
func (v variables) enabled() (bool, error) {
	exporters := strings.ToLower(v("OTEL_TRACES_EXPORTER"))
	switch {
	case strings.EqualFold(v("OTEL_SDK_DISABLED"), "true") || exporters == "none":
		return false, nil
	case exporters == "otlp":
		return true, nil
	case exporters == "":
		_, endpoint := v.exporterVariable("ENDPOINT")
		return endpoint != "", nil
	}
	return false, refuse("OTEL_TRACES_EXPORTER", "is %q; otlp and none are supported, and --trace FILE writes a "+
		"local trace", guard.Line(exporters, 40))
}

// exporterVariable returns an exporter's variable for traces, or else the one for all signals.
func (v variables) exporterVariable(name string) (variable, value string) {
	traces := "OTEL_EXPORTER_OTLP_TRACES_" + name
	if value := v(traces); value != "" {
		return traces, value
	}
	return "OTEL_EXPORTER_OTLP_" + name, v("OTEL_EXPORTER_OTLP_" + name)
}

// exporter reads the OTEL_EXPORTER_OTLP_* variables.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/
func (v variables) exporter(s *settings, allowHTTP bool) error {
	name, protocol := v.exporterVariable("PROTOCOL")
	if protocol != "" && !strings.EqualFold(protocol, "http/protobuf") {
		return refuse(name, "is %q; http/protobuf is supported, mostly on port 4318", guard.Line(protocol, 40))
	}
	name, timeout := v.exporterVariable("TIMEOUT")
	milliseconds, err := strconv.Atoi(cmp.Or(timeout, fmt.Sprint(exportTimeout.Milliseconds())))
	if err != nil || milliseconds <= 0 || milliseconds > maxTimeout {
		return refuse(name, "is not a whole number from 1 to %d", maxTimeout)
	}
	s.timeout = time.Duration(milliseconds) * time.Millisecond
	name, endpoint := v.exporterVariable("ENDPOINT")
	u, err := transport.CheckURL(cmp.Or(endpoint, localCollector), allowHTTP)
	if err != nil {
		return refuse(name, "cannot be used: %v (plain http beyond this machine needs allow-http)", err)
	}
	if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		u = u.JoinPath(tracesPath)
	}
	s.url, s.host = u.String(), u.Host
	s.headers, err = headers(v.exporterVariable("HEADERS"))
	return err
}

// headers parses the headers of every request to the collector: name=value,name=value, with values percent-encoded.
// An entry that is wrong may be a credential, so the error has only its number.
// https://www.w3.org/TR/baggage/#header-content
func headers(name, list string) (http.Header, error) {
	all := http.Header{}
	for i, entry := range strings.Split(list, ",") {
		key, raw, found := strings.Cut(strings.TrimSpace(entry), "=")
		value, err := url.PathUnescape(strings.TrimSpace(raw))
		switch key = strings.TrimSpace(key); {
		case key == "" && !found:
		case !found || err != nil || !token().MatchString(key) || strings.ContainsFunc(value, unicode.IsControl):
			return nil, refuse(name, "has no header name=value, with the value percent-encoded, as its entry %d", i+1)
		default:
			all.Set(key, value)
		}
	}
	return all, nil
}

// token matches a valid header name (RFC 9110, 5.6.2).
var token = pattern.Lazy("^[a-zA-Z0-9!#$%&'*+.^_`|~-]+$")
