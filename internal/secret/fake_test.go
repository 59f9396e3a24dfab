package secret_test

import "github.com/org/pr-review-action/internal/llmtest"

// placed is the text of a made-up credential in the place that gives it away.
func placed(kind string, f llmtest.Fake) string {
	if kind == "aws_secret" {
		return `aws_secret_access_key = "` + f.Text + `"`
	}
	return f.Text
}
