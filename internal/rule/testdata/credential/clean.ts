const password = `${env.DB_PASSWORD}1a`;
const token = "access_token2";
const apiKey = process.env["API_KEY_2"];
if (password === "wq7!Lm2zRt") login();
const de = {"Password": "Contrase\u00f1a", "TabPassword": "\u041f\u0430\u0440\u043e\u043b\u044c"};
const AuthenticatorTwoFactorToken = "authenticator-2fa-token";
const DOTOKEN = "738cb0cd2jfhu84c33hu...";
const middleToken = "eyJhbGc...Qssw5c9fK2";
