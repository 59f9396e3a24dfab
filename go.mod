module github.com/org/pr-review-action

go 1.26

require (
	filippo.io/age v1.2.1
	github.com/aymanbagabas/go-udiff v0.3.1
	github.com/bmatcuk/doublestar/v4 v4.9.1
	github.com/getkin/kin-openapi v0.133.0
	github.com/go-json-experiment/json v0.0.0-20250910080747-cc2cfa0554c3
	github.com/goccy/go-yaml v1.18.0
	github.com/gofrs/flock v0.12.1
	github.com/google/go-github/v62 v62.0.0
	github.com/jackc/pgx/v5 v5.7.6
	github.com/rogpeppe/go-internal v1.14.1
	github.com/sashabaranov/go-openai v1.43.0
	github.com/sethvargo/go-githubactions v1.3.0
	github.com/spf13/pflag v1.0.10
	github.com/stretchr/testify v1.11.1
	github.com/yuin/goldmark v1.7.13
	go.uber.org/goleak v1.3.0
	golang.org/x/sync v0.17.0
	golang.org/x/term v0.36.0
	znkr.io/diff v1.0.0-beta.4
)

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/go-openapi/jsonpointer v0.21.0 // indirect
	github.com/go-openapi/swag v0.23.0 // indirect
	github.com/google/go-querystring v1.1.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.2 // indirect
	github.com/josharian/intern v1.0.0 // indirect
	github.com/mailru/easyjson v0.7.7 // indirect
	github.com/mohae/deepcopy v0.0.0-20170929034955-c48cc78d4826 // indirect
	github.com/oasdiff/yaml v0.0.0-20250309154309-f31be36b4037 // indirect
	github.com/oasdiff/yaml3 v0.0.0-20250309153720-d2182401db90 // indirect
	github.com/perimeterx/marshmallow v1.1.5 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/woodsbury/decimal128 v1.3.0 // indirect
	golang.org/x/crypto v0.37.0 // indirect
	golang.org/x/sys v0.37.0 // indirect
	golang.org/x/text v0.24.0 // indirect
	golang.org/x/tools v0.38.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
