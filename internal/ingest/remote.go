package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/org/pr-review-action/internal/pull"
)

// Top is the folder of the work tree around dir: ErrNoGit, or ErrNoClone, also in a bare
// clone.
func Top(ctx context.Context, dir string) (string, error) {
	if _, err := open(ctx, dir); err != nil {
		return "", err
	}
	top, err := git(ctx, dir, nil, nil, "rev-parse", "--show-toplevel")
	if err != nil || len(top) == 0 {
		return "", ErrNoClone
	}
	return strings.TrimSuffix(string(top), "\n"), nil
}

// DefaultBranch is the default branch as far as the clone around dir knows it, without the
// remote's name: ErrNoDefaultBranch.
func DefaultBranch(ctx context.Context, dir string) (string, error) {
	g, err := open(ctx, dir)
	if err != nil {
		return "", err
	}
	name, err := g.defaultBranch(ctx)
	return strings.TrimPrefix(name, "origin/"), err
}

// ErrNoOrigin reports a clone that does not say where it came from.
var ErrNoOrigin = errors.New("the clone names no origin")

// Origin is the repository that the clone in dir has for its origin, without a number.
func Origin(ctx context.Context, dir string) (pull.Ref, error) {
	remote, err := git(ctx, dir, nil, nil, "remote", "get-url", "origin")
	switch {
	case err != nil && strings.Contains(err.Error(), notGit):
		return pull.Ref{}, ErrNoClone
	case err != nil:
		return pull.Ref{}, ErrNoOrigin
	}
	return parseRemote(strings.TrimSpace(string(remote)))
}

// parseRemote reads a remote's address. A user or password in it goes no further, nor does
// the port of an ssh one, which is none of the web's.
func parseRemote(address string) (pull.Ref, error) {
	if at, path, ok := strings.Cut(address, ":"); ok && !strings.Contains(address, "://") && len(at) > 1 {
		address = "ssh://" + at + "/" + strings.TrimPrefix(path, "/") // git@host:owner/repo
	}
	u, err := url.Parse(address)
	none := fmt.Errorf("the clone's origin is not a repository of a server")
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
		if ref.Host = strings.ToLower(u.Hostname()); ref.Host == "ssh.github.com" {
			ref.Host = pull.DefaultHost
		}
	default:
		return pull.Ref{}, none
	}
	name := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	if ref.Owner, ref.Repo, err = pull.ParseRepository(name); err != nil {
		return pull.Ref{}, fmt.Errorf("the clone's origin: %w", err)
	}
	return ref, nil
}
