import { exec } from "child_process";
exec(`git log ${ref}`, done); //~ major
child_process.execSync("ls " + req.query.dir); //~ blocker
