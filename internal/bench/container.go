package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The images that stay at the engine, as a build's cache does.
const (
	productImage = "pr-review-action:bench"
	floorImage   = "pr-review-action:bench-floor"
)

// engine is the version of the Docker Engine, and empty where there is none, which the report then says.
func (s *suite) engine(ctx context.Context) string {
	version, err := s.call(ctx, "version", "--format", "{{.Server.Version}}")
	if err != nil {
		fmt.Fprintln(s.log, err)
		fmt.Fprintln(s.out, "\nskipped: no Docker Engine")
		return ""
	}
	return version
}

func (s *suite) call(ctx context.Context, args ...string) (string, error) {
	return output(exec.CommandContext(ctx, s.docker, args...))
}

func (s *suite) buildImage(ctx context.Context) error {
	root, err := moduleRoot(ctx)
	if err == nil {
		_, err = s.call(ctx, "build", "--quiet", "--tag", productImage, root)
	}
	return err
}

func (s *suite) buildFloor(ctx context.Context) error {
	program, err := s.floor(ctx, "linux")
	if err != nil {
		return err
	}
	recipe := filepath.Join(filepath.Dir(program), "Dockerfile")
	if err := os.WriteFile(recipe, []byte("FROM scratch\nCOPY nothing /nothing\nENTRYPOINT [\"/nothing\"]\n"),
		0o600); err != nil {
		return err
	}
	_, err = s.call(ctx, "build", "--quiet", "--tag", floorImage, filepath.Dir(program))
	return err
}
