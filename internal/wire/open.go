package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
)

// otherStores are the addresses that OpenStore takes besides a folder, with "or" between them.
const otherStores = "postgres://USER@HOST/DATABASE"

// Stores describes what OpenStore accepts, for help texts that begin with "a folder".
const Stores = "that drafts wait in, or " + otherStores

// OpenStore opens the store at where, a folder's name or a URL. An empty where means
// PR_REVIEW_STORE, which may also be either, or else the default folder.
func (w Wire) OpenStore(ctx context.Context, where string) (Store, error) {
	if where = cmp.Or(where, w.getenv("PR_REVIEW_STORE")); where == "" {
		var err error
		if where, err = filestore.Default(w.getenv); err != nil {
			return nil, err
		}
	}
	if strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://") {
		return openPostgres(ctx, where)
	}
	if scheme := notFolder().FindString(where); scheme != "" { // which may hold a password
		return nil, problem.Usage(fmt.Sprintf("there is no store at an address that begins with %.20q", scheme),
			fmt.Sprintf("name a folder, or %s", otherStores))
	}
	store, err := filestore.New(where)
	if err != nil {
		return nil, problem.Usage(err.Error(), "name a folder with --store")
	}
	return store, nil
}

// notFolder matches the beginning of what is not a folder's name: a URL, for which any word
// before :/ is taken (a single letter is a drive), or libpq connection settings.
var notFolder = pattern.Lazy(`^(?i)(?:[a-z][a-z0-9+.-]+:/{1,2}|(?:host|hostaddr|port|dbname|user|password` +
	`|service) *=)`)

// WithPassword reports whether a store's address holds a password or cannot be parsed.
func WithPassword(store string) bool {
	if !notFolder().MatchString(store) {
		return false
	}
	u, err := url.Parse(store)
	if err != nil {
		return true
	}
	_, given := u.User.Password()
	return given || u.Query().Has("password") || u.Query().Has("sslpassword")
}

// Store keeps the threads of the command line, which does not close it: a lock that is still held
// ends with the process. storetest also covers Threads and Remove.
type Store interface {
	graph.Store
	Threads(ctx context.Context) ([]string, error)   // the ids of the saved threads, in byte order
	Remove(ctx context.Context, thread string) error // keeps the lock; nil if there is no such thread
	Where() string                                   // for a person; without a password
}

// database keeps indexes of commits outside this machine; pgindex.Store implements it.
type database interface {
	// Find returns the index of a commit with a model's vectors, and the report of its
	// making; nil if there is none.
	Find(ctx context.Context, k index.Key) (*index.Source, index.Report, error)
	Write(ctx context.Context, k index.Key, x *index.Index, made index.Report) (*index.Source, error)
	Vectors() bool
}
