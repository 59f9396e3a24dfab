package github_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
)

// unpacked lists an archive's entries: text by name.
func unpacked(t *testing.T, r io.ReadCloser) map[string]string {
	t.Helper()
	defer r.Close()
	expanded, err := gzip.NewReader(r)
	require.NoError(t, err)
	entries := map[string]string{}
	for archive := tar.NewReader(expanded); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		require.NoError(t, err)
		var text bytes.Buffer
		_, err = io.Copy(&text, archive)
		require.NoError(t, err)
		entries[h.Name] = text.String() + h.Linkname
	}
}

func TestAnArchiveHoldsTheFilesOfItsCommit(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{Private: true, Files: githubtest.Tree{"a.go": "old"}})
	sha := repo.Commit("topic", "m", githubtest.Tree{"a.go": "new", "d/b": "b", "l": githubtest.Link("/etc/passwd")})
	c := connect(t, s, reader(s, repo))
	body, err := c.Archive(t.Context(), "o", "r", sha)
	require.NoError(t, err)
	folder := "o-r-" + sha[:7] + "/"
	require.Equal(t, map[string]string{"pax_global_header": "", folder: "", folder + "a.go": "new", folder + "d/b": "b",
		folder + "l": "/etc/passwd"}, unpacked(t, body))
}

func TestT30_AnArchivesStoreIsAskedWithoutTheToken(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	c := connect(t, s, reader(s, repo))
	body, err := c.Archive(t.Context(), "o", "r", repo.Head("main"))
	require.NoError(t, err)
	require.NoError(t, body.Close())
	asked := s.Requests()
	require.Equal(t, []string{"api", "storage"}, []string{asked[0].Host, asked[1].Host})
	require.NotEmpty(t, asked[0].Header.Get("Authorization"))
	require.Empty(t, asked[1].Header.Get("Authorization"))
}

func TestAnArchiveThatCannotBeHadSaysWhy(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	blind := s.AppToken(repo, map[string]string{"actions": "read"})
	head := repo.Head("main")
	for name, tc := range map[string]struct {
		token, sha string
		fault      *githubtest.Fault
		want       error
	}{
		"no such commit": {reader(s, repo), strings.Repeat("0", 40), nil, github.ErrNotFound},
		"no commit id":   {reader(s, repo), "main", nil, github.ErrNotFound},
		"a climbing id":  {reader(s, repo), "../../../../user", nil, github.ErrNotFound},
		"no access":      {blind, head, nil, github.ErrNoAccess},
	} {
		_, err := connect(t, s, tc.token).Archive(t.Context(), "o", "r", tc.sha)
		require.ErrorIs(t, err, tc.want, name)
		require.NotContains(t, err.Error(), "sig=", name)
	}
}

func TestT31_AnArchiveIsBounded(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	c := connect(t, s, reader(s, repo))
	for _, tc := range []struct {
		size int
		want error
	}{{33 << 20, nil}, {github.MaxArchive + 1, github.ErrTooLarge}} {
		s.ClearFaults()
		s.Fail("GET", "/archives/**", githubtest.Fault{Status: http.StatusOK, Body: strings.Repeat("x", tc.size)})
		_, err := c.Archive(t.Context(), "o", "r", repo.Head("main"))
		require.ErrorIs(t, err, tc.want, "%d bytes", tc.size)
	}
}
