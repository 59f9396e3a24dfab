const agent = new https.Agent({ rejectUnauthorized: false }); //~ major
process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"; //~ major
process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0"; //~ major
