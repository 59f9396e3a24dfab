package ingest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/ingest"
)

func TestAnOriginBehindAnAliasOfSSHIsThatOfItsHost(t *testing.T) {
	r, bin := newTree(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "ssh"), []byte(`#!/bin/sh
[ "$*" = "-G github-work" ] && printf 'user git\nhostname GitHub.com\nport 22\n'`), 0o700))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	r.git("remote", "add", "origin", "x")
	for address, host := range map[string]string{
		"git@github-work:octo/demo.git":              "github.com",
		"ssh://git@github-work:22/octo/demo":         "github.com",
		"git@git.acme.example:octo/demo":             "git.acme.example", // ssh does not know it
		"ssh://git@-oProxyCommand=x/octo/demo":       "-oproxycommand=x",
		"https://github-work/octo/demo":              "github-work",
		"git+ssh://git@ssh.github.com:443/octo/demo": "github.com",
	} {
		r.git("remote", "set-url", "origin", address)
		ref, err := ingest.Origin(t.Context(), r.dir)
		require.NoError(t, err, address)
		require.Equal(t, host, ref.Host, address)
	}
}
