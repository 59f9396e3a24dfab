const password = `${env.DB_PASSWORD}1a`;
const token = "access_token2";
const apiKey = process.env["API_KEY_2"];
if (password === "wq7!Lm2zRt") login();
