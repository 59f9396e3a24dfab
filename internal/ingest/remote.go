package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/org/pr-review-action/internal/pull"
)

// Top returns the top folder of the work tree in which the clone was opened, or ErrNoClone if
// bare.
func (g Clone) Top(ctx context.Context) (string, error) {
	top, err := git(ctx, g.openedFrom, nil, nil, "rev-parse", "--show-toplevel")
	if err != nil || len(top) == 0 {
		return "", ErrNoClone
	}
	return strings.TrimSuffix(string(top), "\n"), nil
}

// DefaultBranch returns the default branch as far as the clone knows it, without the remote's
// name, or ErrNoDefaultBranch.
func (g Clone) DefaultBranch(ctx context.Context) (string, error) {
	name, err := g.defaultBranch(ctx)
	return strings.TrimPrefix(name, "origin/"), err
}

// ErrNoOrigin reports that a clone has no remote named origin.
var ErrNoOrigin = errors.New("the clone names no origin")

// Origin returns the repository that is the origin of the clone in dir, without a number.
func Origin(ctx context.Context, dir string) (pull.Ref, error) {
	remote, err := git(ctx, dir, nil, nil, "remote", "get-url", "origin")
	switch {
	case err != nil && strings.Contains(err.Error(), notGit):
		return pull.Ref{}, ErrNoClone
	case err != nil:
		return pull.Ref{}, ErrNoOrigin
	}
	return parseRemote(ctx, strings.TrimSpace(string(remote)))
}

// parseRemote parses a remote's address. It drops a user or password, and the port of an ssh
// address, which is not the web's.
func parseRemote(ctx context.Context, address string) (pull.Ref, error) {
	if at, path, ok := strings.Cut(address, ":"); ok && !strings.Contains(address, "://") && len(at) > 1 {
		address = "ssh://" + at + "/" + strings.TrimPrefix(path, "/") // git@host:owner/repo
	}
	u, err := url.Parse(address)
	none := fmt.Errorf("the clone's origin is not a repository on a server")
	if err != nil || u.Host == "" {
		return pull.Ref{}, none
	}
	ref := pull.Ref{Host: strings.TrimPrefix(strings.ToLower(u.Host), "www.")}
	switch u.Scheme {
	case "http":
		if ref.Host != pull.DefaultHost {
			ref.Scheme = u.Scheme
		}
	case "https":
	case "ssh", "git", "git+ssh":
		ref.Host = sshHost(ctx, strings.ToLower(u.Hostname()))
	default:
		return pull.Ref{}, none
	}
	name := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	if ref.Owner, ref.Repo, err = pull.ParseRepository(name); err != nil {
		return pull.Ref{}, fmt.Errorf("the clone's origin: %w", err)
	}
	return ref, nil
}
