const o = { strictSSL: secure ? !!options.rejectUnauthorized : false };
const agent = new https.Agent({ rejectUnauthorized: true });
if (usingSsl && this.ignoreSslError) {
  agent.options = Object.assign(agent.options, {
    rejectUnauthorized: false,
  });
}
