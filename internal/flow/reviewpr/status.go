package reviewpr

import (
	"cmp"
	"errors"

	"github.com/org/pr-review-action/internal/graph"
)

// Status is the status of a run, with the names of the reference design.
type Status string

// The statuses, in their order.
const (
	Initialize      Status = "initialize"
	FetchDetails    Status = "fetch_pr_details"
	ExtractIDs      Status = "extract_context_ids"
	FetchJira       Status = "fetch_jira_context"
	FetchConfluence Status = "fetch_confluence_context"
	AnalyzeCode     Status = "analyze_code"
	GenerateReview  Status = "generate_review"
	AtGate          Status = "gate"
	PostReview      Status = "post_review"
	Complete        Status = "complete"
	InError         Status = "error" // a run that failed before or outside its graph
)

var statuses = map[string]Status{
	ingestNode: FetchDetails, triageNode: FetchDetails, contextNode: ExtractIDs,
	reviewNode: AnalyzeCode, reviseNode: AnalyzeCode, redraftNode: AnalyzeCode,
	overviewNode: GenerateReview, aggregateNode: GenerateReview, gateNode: AtGate, postNode: PostReview,
}

// StatusOf returns the status while a node is under way. For the context node
// StatusesIn is more precise.
func StatusOf(node string) Status { return cmp.Or(statuses[node], Initialize) }

// StatusesIn returns the status of a stored thread: for a running one that of its next
// node, for one that ended FAILED that of its last node. It returns two if tickets and
// pages are being fetched in parallel.
func StatusesIn(v graph.View[State]) (all []Status) {
	switch {
	case v.Status == graph.Paused:
		return []Status{AtGate}
	case v.Status == graph.Ended && v.End != Failed:
		return []Status{Complete}
	case v.Status == graph.Running && len(v.Next) > 0 && v.Next[0] == contextNode && len(v.Doing) > 0:
		for _, what := range v.Doing {
			all = append(all, Status(what))
		}
		return all
	case v.Status == graph.Running && len(v.Next) > 0:
		return []Status{StatusOf(v.Next[0])}
	case len(v.Steps) > 0:
		return []Status{StatusOf(v.Steps[len(v.Steps)-1].Node)}
	}
	return []Status{Initialize}
}

// StatusAt returns the status in which an error ended a run.
func StatusAt(err error) Status {
	if node, ok := errors.AsType[*graph.NodeError](err); ok {
		return StatusOf(node.Node)
	}
	return InError
}
