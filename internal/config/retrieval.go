package config

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/org/pr-review-action/internal/pattern"
)

// Endpoint is a server that retrieval calls, other than that of the models.
type Endpoint struct {
	BaseURL string `json:"base_url,omitzero"` // empty for the vendor's
	Model   string `json:"model,omitzero"`    // empty: the endpoint is not used
	Style   string `json:"style,omitzero"`    // format of its requests; empty for the usual one
	KeyEnv  string `json:"key_env,omitzero"`  // variable that holds its key; empty: no key is sent
}

// Embeddings configures what turns texts into vectors.
type Embeddings struct {
	Endpoint
	Dimensions int `json:"dimensions,omitzero"` // of the vectors; 0 for the model's own
}

// Index configures where the index of the base commit is kept, and what is in it.
type Index struct {
	// empty or "file": a folder; otherwise the address of a Postgres database
	Store       string   `json:"store,omitzero"`
	PasswordEnv string   `json:"password_env,omitzero"` // variable that holds the database's password
	Ignore      []string `json:"ignore,omitempty"`      // globs of paths that are not indexed
	MaxFiles    int      `json:"max_files,omitzero"`
}

// Ignores reports whether a path is not indexed.
func (i Index) Ignores(path string) bool { return pattern.Matches(i.Ignore, path) }

// Postgres returns the address of the database that keeps the index; "" means a file.
func (i Index) Postgres() string {
	if i.Store == storeFile {
		return ""
	}
	return i.Store
}

const storeFile = "file"

func endpointKeys(e *Endpoint, styles ...string) keys {
	return keys{
		checkedText("base-url", &e.BaseURL, wrongLocation("https", "http")),
		modelName("model", &e.Model), choice("style", &e.Style, styles[0], styles...),
		checkedText("key-env", &e.KeyEnv, wrongVariable),
	}
}

func embeddingKeys(e *Embeddings) keys {
	return append(endpointKeys(&e.Endpoint, "openai", "voyage"),
		integer("dimensions", 4_096, &e.Dimensions, 0))
}

func rerankKeys(e *Endpoint) keys { return endpointKeys(e, "cohere", "voyage") }

func indexKeys(i *Index) keys {
	store := checkedText("store", &i.Store, wrongLocation("postgres", "postgresql"))
	elsewhere := store.read
	store.read = func(r *reader, n ast.Node) {
		if s, ok := n.(*ast.StringNode); ok && !strings.Contains(s.Value, ":") {
			r.acceptedText(n, r.oneOf([]string{storeFile}), &i.Store)
			return
		}
		elsewhere(r, n)
	}
	store.show = func() any { return cmp.Or(i.Store, storeFile) }
	return keys{store, checkedText("password-env", &i.PasswordEnv, wrongVariable),
		textList("ignore", &i.Ignore, wrongGlob), integer("max-files", 1_000_000, &i.MaxFiles, 0)}
}

// endpoint is the key of a server. Its model is required, here or in the defaults.
func endpoint(name string, model *string, known keys) key {
	return key{name: name, children: known, read: func(r *reader, n ast.Node) {
		seen := r.mapping(n, known)
		if _, nothing := n.(*ast.NullNode); !nothing && *model == "" && !slices.Contains(seen, "model") {
			r.fail(firstKey(n), "%s needs model, the name by which the endpoint serves it", name)
		}
	}}
}

// firstKey returns the node where a mapping begins for a reader; the mapping's own position is that of a colon.
func firstKey(n ast.Node) ast.Node {
	if all := mappingPairs(n); len(all) > 0 {
		return all[0].Key
	}
	return n
}

// wrongLocation is the rule that a text is a server's address. It never quotes a text that
// may contain a password.
func wrongLocation(schemes ...string) func(string) string {
	return func(s string) string {
		u, err := url.Parse(s)
		switch {
		case err != nil || len(s) > 500 || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }):
			return mistake("this is not an address")
		case !slices.Contains(schemes, u.Scheme):
			return mistake("this is not an address that begins with %s://", strings.Join(schemes, ":// or "))
		case hasPassword(u):
			return mistake("the address contains a password, which does not belong here; name a variable")
		case !strings.HasPrefix(u.Scheme, "postgres") && (u.Host == "" || u.User != nil || u.Fragment != ""):
			return mistake("an address needs a host, and no user and no fragment")
		}
		return ""
	}
}

func hasPassword(u *url.URL) bool {
	_, given := u.User.Password()
	q, err := url.ParseQuery(u.RawQuery)
	return given || err != nil || q.Has("password") || q.Has("sslpassword") || q.Has("api_key") || q.Has("api-key") ||
		q.Has("key")
}

var variableName = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

// ours lists the prefixes of variables that belong to GitHub, the runner or this program:
// no endpoint gets their values.
var ours = []string{"GITHUB_", "GH_", "ACTIONS_", "RUNNER_", "INPUT_", "PR_REVIEW_", "AWS_"}

// wrongVariable is the rule that a text names a variable for a credential.
func wrongVariable(s string) string {
	begins := func(front string) bool { return strings.HasPrefix(strings.ToUpper(s), front) }
	switch {
	case !variableName().MatchString(s):
		return mistake("%.60q is not the name of an environment variable; the credential itself stands in none of "+
			"these settings", s)
	case slices.ContainsFunc(ours, begins):
		return mistake("%s is not a variable for a credential of this endpoint; name a separate one", s)
	}
	return ""
}

// address is the address of a server, without credentials. Whether plain http is allowed is
// up to the caller that connects.
func address(name string, into *string) key {
	return checkedText(name, into, wrongAddress).then(func() { *into = strings.TrimSuffix(*into, "/") })
}

func wrongAddress(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return mistake("expected an address that begins with https://")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return mistake("an address here has no user, no query and no fragment; credentials come from the environment")
	}
	return ""
}
