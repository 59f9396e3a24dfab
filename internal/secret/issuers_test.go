package secret_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/secret"
)

// samples are tokens as their issuers describe them, by kind: {36} is 36 letters and digits, {36x} of hex, {36-} of
// base64 for URLs, {36/} of base64. The bars keep them from being tokens here.
const samples = `
1password-service-account-token: ops|_eyJ{1200/}=
anthropic-api-key: sk-|ant-api03-{93-}AA
api-token: apify|_api_{36} CCDB1|_{22}_{40} ddp|_{36} jina|_{60} mlsn|.{64x} pdl|_live_apikey_{26}_{22}_{3}
api-token: polar|_oat_{43} pylf|_v1_us_{43} tfp|_{44-}
atlassian-api-token: ATATT|3xFfGF0{180-}=4C2A7F03
aws-bedrock-api-key: ABSK|QmVkcm9ja0FQSUtleS{110/}= bedrock-|api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{300/}
aws-session-token: IQoJb3|JpZ2luX2Vj{1500/}
azure-key: {52}|JQQJ99BEACAAAAA{9}AAABAZfu{4} {76}|AZDO{4} {76/}|+ASt{5/}A==
azure-key: {33/}|+ASbC{5/}= {42}|AzSeB{5} {44-}|AzFu{5-}A== {42/}|+ACRA{5/}
buildkite-token: bkua|_{40x} bkpat|_{54}
cerebras-api-key: csk|-{48}
circleci-token: CCIPAT|_{22}_{40x}
cloudflare-token: cfk|_{40}{8x} cfut|_{40}{8x} cfat|_{40}{8x} cfast|_{40}{8x}
contentful-token: CFPAT|-{43-}
docker-token: dckr|_pat_{27-} dckr|_oat_{32-} SWMTKN|-1-{50}-{25}
doppler-token: dp.|st.prd.{43} dp.|sa.{43}
elastic-cloud-api-key: essu|_{80-}
elevenlabs-api-key: sk|_{48x}
figma-token: figd|_{40-}
gcp-api-key: AQ|.Ab8RN6{44-} AI|za{35-}
flyio-access-token: fm|2_{900/}
github-token: gh|s_1234567_ey|J{36}.ey|J{160-}.{300-} gh|u_Iv23li{14}_ey|J{36}.ey|J{900-}.{300-}
gitlab-pat: glpat|-{27-}.01.{9x}
gitlab-token: glrtr|-{27-} glwt|-{27-}
google-oauth-token: ya29|.a0{200-} GOCSPX|-{28-} 1|//0{100-}
groq-api-key: gsk|_{52}
huggingface-access-token: hf|_{34} api|_org_{34}
jwt: ey|J{60}.ey|J{2500-}.{340-}
langfuse-secret-key: sk-|lf-{8x}-{4x}-{4x}-{4x}-{12x}
langsmith-api-key: lsv2|_pt_{32x}_{10x}
linear-token: lin|_oauth_{64x}
mongodb-atlas-secret: mdb|_sa_sk_{40-}
neon-api-key: napi|_{64}
netlify-token: nfp|_{36}
new-relic-user-key: NRAK|-{27}
nuget-api-key: oy|2{43}
nvidia-api-key: nvapi|-{64-}
openai-api-key: sk-|{32x} sk-|None-{20}T3BlbkFJ{20} sk-|svcacct-{74-}T3BlbkFJ{74-}
openrouter-api-key: sk-|or-v1-{64x}
pinecone-api-key: pcsk|_{5}_{63}
posthog-api-key: phx|_{43}
render-api-key: rnd|_{28}
replicate-api-token: r8|_{37}
resend-api-key: re|_{8}_{24}
slack-token: xoxc|-{12}-{12}-{12}-{64x} xoxe|.xoxp-1-{160} xoxd|-{120/}%3D
stripe-access-token: sk_|org_live_{99}
webhook-secret: whsec|_{32/}
supabase-key: sb|_secret_{22-}_{8-} sbp|_{40x}
tailscale-key: tskey|-auth-{12}CNTRL-{32}
tavily-api-key: tvly|-dev-{32}
telegram-bot-api-token: 8412020276:|AA{33-}
together-api-key: tgp|_v1_{43-}
vercel-token: vca|_{56} vci|_{56} vck|_{56} vcp|_{56} vcr|_{56}
wandb-api-key: wandb|_v1_{77}
xai-api-key: xai|-{80}`

func TestT9_TokensAreKnownByTheirBeginnings(t *testing.T) {
	t.Parallel()
	part := regexp.MustCompile(`\{(\d+)(.?)\}`)
	alphabets := map[string]string{"": llmtest.Alphabet, "x": "0123456789abcdef", "-": llmtest.Alphabet + "-_",
		"/": llmtest.Alphabet + "+/"}
	for row := range strings.Lines(strings.TrimSpace(samples)) {
		kind, list, _ := strings.Cut(strings.TrimSpace(row), ": ")
		for _, sample := range strings.Fields(list) {
			token := part.ReplaceAllStringFunc(strings.ReplaceAll(sample, "|", ""), func(p string) string {
				m := part.FindStringSubmatch(p)
				n, err := strconv.Atoi(m[1])
				require.NoError(t, err)
				return llmtest.Drawn(sample+p, n, alphabets[m[2]])
			})
			mark := "<redacted " + kind + ">"
			for _, place := range []string{"see #, or", "f(#)", "?a=#&b=c", "It is #.", "#"} {
				require.Equal(t, strings.Replace(place, "#", mark, 1),
					secret.Redact(strings.Replace(place, "#", token, 1)), sample)
			}
		}
	}
}

func TestT9_APictureInBase64IsNoToken(t *testing.T) {
	t.Parallel()
	picture := "iVBORw0KGgo/oy2" + llmtest.Drawn("picture", 60, llmtest.Alphabet) + "+AA=="
	require.Equal(t, picture, secret.Redact(picture))
}

func TestT9_ATokenThatWasCutIsKnown(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"github_app", "openai", "npm", "atlassian"} {
		f := llmtest.Fakes("cut")[kind]
		for n := 40; n <= len(f.Value); n += 9 {
			require.Equal(t, "a <redacted "+f.Kind+">…", secret.Redact("a "+f.Value[:n]+"…"), kind)
		}
	}
}
