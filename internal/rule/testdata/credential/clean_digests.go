package a

var sums = map[string]string{
	"list":     "65588da78665699dd3f287f68325e9777d511f1a57fee4131a5bb6d00bb68df8",
	"api_key":  "27d401b31a72881d5232486ba17eb47edaf5246eaedce81de88698c15ebb2284",
	"settings": "2c5dd0ed6355bd5acc393bbf6117d20458b5581aab82036008324f6bbbe2af75",
}

var rules = map[string]string{"totp_secret": "sometimes|required|size:16"}
