package githubtest

import (
	"net/http"
	"regexp"
	"strings"
)

// route is one operation: the path as the description writes it, the scopes of
// which an app token needs one, and what answers it.
type route struct {
	method, path string
	scopes       []string
	handle       func(*call) answer
}

func (s *Server) routes() []route {
	const repo = "/repos/{owner}/{repo}"
	contents, pulls, write := []string{"contents:read"}, []string{"pull_requests:read"}, []string{"pull_requests:write"}
	issues, actions := []string{"issues:read", "pull_requests:read"}, []string{"actions:read"}
	return append(setupRoutes(), []route{
		{"GET", "/user", nil, getUser},
		{"GET", repo, nil, getRepo},
		{"GET", repo + "/branches/{branch}", contents, getBranch},
		{"GET", repo + "/collaborators/{username}/permission", []string{"metadata:read"}, getPermission},
		{"GET", repo + "/contents/{path}", contents, getContents},
		{"GET", repo + "/commits/{ref}/check-runs", []string{"checks:read"}, listChecks},
		{"GET", repo + "/commits/{ref}/status", []string{"statuses:read"}, listStatuses},
		{"GET", repo + "/check-runs/{check_run_id}/annotations", []string{"checks:read"}, listAnnotations},
		{"POST", repo + "/check-runs", []string{"checks:write"}, createCheck},
		{"PATCH", repo + "/check-runs/{check_run_id}", []string{"checks:write"}, updateCheck},
		{"POST", repo + "/statuses/{sha}", []string{"statuses:write"}, createStatus},
		{"GET", repo + "/tarball/{ref}", contents, getArchive},
		{"GET", repo + "/git/trees/{tree_sha}", contents, getTree},
		{"POST", repo + "/git/refs", []string{"contents:write"}, createRef},
		{"POST", repo + "/pulls", write, createPull},
		{"GET", repo + "/compare/{basehead}", contents, compare},
		{"GET", repo + "/pulls", pulls, listPulls},
		{"GET", repo + "/pulls/{pull_number}", pulls, ofPull(getPull)},
		{"GET", repo + "/pulls/{pull_number}/files", pulls, ofPull(listFiles)},
		{"GET", repo + "/pulls/{pull_number}/commits", pulls, ofPull(listCommits)},
		{"GET", repo + "/pulls/{pull_number}/comments", pulls, ofPull(listComments)},
		{"GET", repo + "/pulls/{pull_number}/reviews", pulls, ofPull(listReviews)},
		{"POST", repo + "/pulls/{pull_number}/reviews", write, ofPull(createReview)},
		{"DELETE", repo + "/pulls/{pull_number}/reviews/{review_id}", write, ofPull(deleteReview)},
		{"POST", repo + "/pulls/{pull_number}/reviews/{review_id}/events", write, ofPull(submitReview)},
		{"GET", repo + "/pulls/{pull_number}/reviews/{review_id}/comments", pulls, ofPull(listReviewComments)},
		{"GET", repo + "/issues/{issue_number}", issues, getIssue},
		{"GET", repo + "/issues/{issue_number}/comments", issues, listRemarks},
		{"POST", repo + "/issues/{issue_number}/comments", []string{"issues:write", "pull_requests:write"},
			createRemark},
		{"GET", repo + "/issues/{issue_number}/events", issues, ofPull(listEvents)},
		{"GET", repo + "/environments/{environment_name}", actions, getEnvironment},
		{"GET", repo + "/actions/workflows/{workflow_id}/runs", actions, listRuns},
		{"POST", repo + "/actions/workflows/{workflow_id}/dispatches", []string{"actions:write"}, dispatch},
		{"GET", repo + "/actions/runs/{run_id}", actions, ofRun(getRun)},
		{"GET", repo + "/actions/runs/{run_id}/approvals", actions, ofRun(listApprovals)},
		{"GET", repo + "/actions/runs/{run_id}/pending_deployments", actions, ofRun(listPending)},
		{"POST", repo + "/actions/runs/{run_id}/pending_deployments", []string{"deployments:write"},
			ofRun(decidePending)},
		{"GET", repo + "/actions/runs/{run_id}/artifacts", actions, ofRun(listRunArtifacts)},
		{"GET", repo + "/actions/artifacts", actions, listArtifacts},
		{"GET", repo + "/actions/artifacts/{artifact_id}/{archive_format}", actions, ofArtifact(downloadArtifact)},
	}...)
}

// parameter is a path parameter of a template.
var parameter = regexp.MustCompile(`\{(\w+)\}`)

// deep are the path parameters that hold slashes.
var deep = regexp.MustCompile(`\{(path|ref|basehead)\}$`)

func (s *Server) apiHandler() http.Handler {
	mux := http.NewServeMux()
	for _, rt := range s.routes() {
		mux.HandleFunc(rt.method+" "+deep.ReplaceAllString(rt.path, "{$1...}"), func(w http.ResponseWriter,
			r *http.Request) {
			s.serve(w, r, rt)
		})
	}
	mux.HandleFunc("POST "+twirpPrefix+"{method}", s.serveRuntime)
	mux.HandleFunc("POST "+cachePrefix+"{method}", s.serveCache)
	mux.HandleFunc("POST /graphql", s.serveGraphQL)
	mux.HandleFunc("POST /api/graphql", s.serveGraphQL)
	s.controls(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.exchange(w, r, "api", func(*call) answer { return notFound() })
	})
	return stripEnterprise(mux)
}

// stripEnterprise serves /api/v3 as well, where an Enterprise Server has its
// REST interface.
func stripEnterprise(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v3")
		r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, "/api/v3")
		next.ServeHTTP(w, r)
	})
}
