package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/org/pr-review-action/internal/githubtest"
)

// span is what a collector reads of one.
type span struct {
	TraceID string `json:"traceId"`
	ID      string `json:"spanId"`
	Parent  string `json:"parentSpanId"`
	Name    string `json:"name"`
	Status  struct {
		Code int `json:"code"`
	} `json:"status"`
	Attributes []struct {
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value"`
	} `json:"attributes"`
}

// collector takes OTLP over HTTP.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []span
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []span `json:"spans"`
				} `json:"scopeSpans"`
			} `json:"resourceSpans"`
		}
		if r.URL.Path != "/v1/traces" || json.Unmarshal(readTraces(r.Body), &body) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, resource := range body.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// readTraces returns a request's spans as compact JSON, or nil.
func readTraces(body io.Reader) []byte {
	var data tracepb.TracesData
	var out bytes.Buffer
	raw, err := io.ReadAll(body)
	if err == nil {
		err = proto.Unmarshal(raw, &data)
	}
	text, malformed := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(&data)
	if err != nil || malformed != nil || json.Compact(&out, text) != nil {
		return nil
	}
	return out.Bytes()
}

func (c *collector) traced(j *job) *job { return j.set("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL) }

func TestOneTraceGoesOverTheGate(t *testing.T) {
	s := setUp(t, scene{})
	c := newCollector(t)
	drafted := c.traced(s.draftJob()).start().is(0, "PAUSED")
	s.approved("")
	c.traced(s.postJob(drafted.digest())).start().is(0, "POSTED")
	named := map[string][]span{}
	for _, got := range c.spans {
		named[got.Name] = append(named[got.Name], got)
		require.Equal(t, c.spans[0].TraceID, got.TraceID, got.Name)
	}
	require.Len(t, named["run review"], 1)
	require.Len(t, named["run resume"], 1)
	require.Equal(t, named["run review"][0].ID, named["run resume"][0].Parent,
		"the second job goes on where the first stopped")
	require.Equal(t, named["run resume"][0].ID, named["step post"][0].Parent)
	draft, post := attributes(named["run review"][0]), attributes(named["run resume"][0])
	require.Equal(t, "octo/demo 42 PAUSED", strings.Join([]string{draft["repository"], draft["pull"],
		draft["outcome"]}, " "))
	require.Equal(t, "octo/demo 42 POSTED", strings.Join([]string{post["repository"], post["pull"],
		post["outcome"]}, " "))
	require.Equal(t, drafted.outputs["findings"], draft["findings"])
	require.NotContains(t, draft, "cost_microusd", "the model's price is not known")
	require.Equal(t, "0", post["cost_microusd"], "who decides pays nothing")
	for _, run := range []map[string]string{draft, post} {
		seconds, err := strconv.ParseFloat(run["seconds"], 64)
		require.NoError(t, err)
		require.GreaterOrEqual(t, seconds, 0.0)
	}
	require.Len(t, named["gate"], 1)
	require.Equal(t, named["run resume"][0].ID, named["gate"][0].Parent)
	require.Equal(t, "approve", attributes(named["gate"][0])["decision"])
	require.Len(t, named["file"], 3)
	require.Equal(t, named["step review"][0].ID, named["file"][0].Parent)
	require.Len(t, named["chat story-1"], s.model.Calls()+len(s.model.Wholes()), "each billed call is a span")
	for _, call := range named["chat story-1"] {
		keys := map[string]string{}
		for _, a := range call.Attributes {
			keys[a.Key] = string(a.Value)
			require.NotContains(t, string(a.Value), "Moves money", "no content unless asked")
		}
		require.Equal(t, `{"stringValue":"chat"}`, keys["gen_ai.operation.name"])
		for _, key := range []string{"gen_ai.request.model", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens",
			"gen_ai.response.finish_reasons"} {
			require.Contains(t, keys, key)
		}
		require.NotContains(t, keys, "pr_review.cost_microusd", "the model's price is not known")
	}
}

// attributes are those of ours, without their prefix.
func attributes(s span) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		var value map[string]any
		if name, ours := strings.CutPrefix(a.Key, "pr_review."); ours && json.Unmarshal(a.Value, &value) == nil {
			for _, v := range value {
				all[name] = fmt.Sprint(v)
			}
		}
	}
	return all
}

func TestTheRootSpanCarriesWhatThisProcessSpent(t *testing.T) {
	const prices = "prices:\n  story-1: { input: 1, cached-input: 1, output: 1 }\n"
	base := baseTree().With(githubtest.Tree{".github/pr-review.yml": prices})
	s := setUp(t, scene{base: base, head: base.With(headTree())})
	c := newCollector(t)
	drafted := c.traced(s.draftJob()).start().is(0, "PAUSED")
	spent, err := strconv.ParseFloat(drafted.outputs["cost-usd"], 64)
	require.NoError(t, err)
	require.Positive(t, spent)
	refused := c.traced(s.decideJob(drafted.outputs["code"], "approve").with("commands", "/drop F99"))
	refused.start().is(3, "REFUSED")
	c.traced(s.decideJob(drafted.outputs["code"], "abort")).start().is(0, "ABORTED")
	var roots, gates []string
	for _, got := range c.spans {
		switch of := attributes(got); {
		case strings.HasPrefix(got.Name, "run "):
			roots = append(roots, strings.Join([]string{of["outcome"], of["cost_microusd"]}, " "))
		case got.Name == "gate":
			gates = append(gates, fmt.Sprint(of["decision"], got.Status.Code))
		}
	}
	require.Equal(t, []string{fmt.Sprintf("PAUSED %.0f", spent*1e6), "REFUSED 0", "ABORTED 0"}, roots)
	require.Equal(t, []string{"2", "abort0"}, gates)
}

func TestFilesThatCannotBeReadFailTheIngestNode(t *testing.T) {
	s := setUp(t, scene{})
	s.hub.Fail("GET", "/repos/octo/demo/pulls/42/files", githubtest.Fault{Status: http.StatusUnprocessableEntity})
	c := newCollector(t)
	c.traced(s.draftJob()).start().is(1, "FAILED")
	at := slices.IndexFunc(c.spans, func(got span) bool { return got.Name == "step ingest" })
	require.GreaterOrEqual(t, at, 0)
	require.Equal(t, 2, c.spans[at].Status.Code, "an error")
}

func TestWithoutAVariableNothingIsTracedAndTheDraftHoldsNone(t *testing.T) {
	s := setUp(t, scene{})
	drafted := s.parked()
	require.NotContains(t, string(s.opened(drafted).Snapshot), "traceparent")
}

func TestACollectorThatIsNotThereIsOneWarning(t *testing.T) {
	s := setUp(t, scene{})
	e := s.draftJob().set("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9").start().is(0, "PAUSED")
	require.Contains(t, e.log, "::warning::")
	require.Contains(t, e.log, "the trace is not complete")
}
