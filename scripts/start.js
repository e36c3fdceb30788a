// @ts-check
/**
 * `npm start -- ARGS` is `zksh ARGS`; without any it is the shell on a server of its own, which
 * needs nothing installed.
 */
if (process.argv.length === 2) process.argv.push("--embedded");
await import("../bin/zksh.js");
