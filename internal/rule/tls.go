package rule

import "github.com/org/pr-review-action/internal/finding"

var tlsCheckOff = rule{
	name: "tls-check-off", category: "security", severity: finding.Major,
	title: "TLS verification disabled",
	body: "Anyone on the network path can impersonate the server and read what is sent. Trust the missing " +
		"certificate authority instead.",
	find: in{
		golang: unlessIntended(inCode(`\bInsecureSkipVerify\s*[:=]\s*true\b`, "InsecureSkipVerify")),
		typescript: unlessIntended(inText(`(?:^|[\s{,(])["']?(?:rejectUnauthorized|strictSSL)["']?\s*:\s*false\b`+
			`|\brejectUnauthorized\s*=\s*false\b`+
			`|\bprocess\.env\W{1,2}NODE_TLS_REJECT_UNAUTHORIZED\b['"\]]*\s*[:=]\s*['"]?0`, "rejectUnauthorized",
			"strictSSL", "NODE_TLS_REJECT_UNAUTHORIZED")),
		python: unlessIntended(inCode(`\b(?:requests|httpx|session|client|aiohttp)\.\w+\(.*\b(?:verify|verify_ssl`+
			`|ssl)\s*=\s*False\b|\bverify\s*=\s*False\b`+
			`|\bssl\._create_unverified_context\b|\.check_hostname\s*=\s*False\b|\bverify_mode\s*=\s*ssl\.CERT_NONE\b`,
			"False", "_create_unverified_context", "CERT_NONE")),
		java: unlessIntended(inCode(`\bNoopHostnameVerifier\b.*[;,)]\s*$|\bALLOW_ALL_HOSTNAME_VERIFIER\b`+
			`|\bnew TrustAllStrategy\(`+
			`|\bInsecureTrustManagerFactory\.INSTANCE\b|void checkServerTrusted\([^)]*\)[^{]*\{\s*\}`,
			"HostnameVerifier", "ALLOW_ALL_HOSTNAME_VERIFIER", "TrustAll", "InsecureTrustManager",
			"checkServerTrusted")),
		shell: unlessIntended(inCode(`\bcurl\b[^|;&]*\s(?:--insecure\b|-[a-zA-Z]*k[a-zA-Z]*\s)|\bwget\b[^`+
			`|;&]*--no-check-certificate\b`+
			`|\bhttp\.sslVerify[= ]false\b|\bGIT_SSL_NO_VERIFY=(?:1|true)\b`+
			`|\bNODE_TLS_REJECT_UNAUTHORIZED=0`,
			"curl", "wget", "sslVerify", "GIT_SSL_NO_VERIFY", "NODE_TLS")),
	},
}
