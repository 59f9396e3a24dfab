const o = { strictSSL: secure ? !!options.rejectUnauthorized : false };
const agent = new https.Agent({ rejectUnauthorized: true });
