/** Command lines for the fuzz: the examples of every command, and what they leave out. */
import { commands } from "../../src/commands/index.ts";

/** More options than the examples have, and the forms that never end by themselves. */
const MORE: readonly string[] = [
  "get -s /app",
  "get -x /app",
  "get -b /app",
  "get --all /app",
  "get --view auto /app",
  "get --view protobuf /app",
  "get --json --view auto /app",
  "get /app watch",
  "ls -s /app",
  "ls -R /app",
  "ls -w /app",
  "ls2 /app",
  "stat -w /app",
  "create -s -e /app/n- x",
  "create -c /app/c x",
  "create -t 10s /app/t x",
  "create -p /a/b/c/d x",
  "set -s /app x",
  "set -v 3 /app x",
  "delete -v 3 /app",
  "txn --json 'create -s -e /app/n- x' 'set -s /app y' 'delete /app/x /app/y' 'check /app'",
  "mv --exact /app /other",
  "--yes mv /app /other",
  "mv --json --dry-run /app /other",
  "txn --dry-run 'create -t 10s /app/t x' 'set -v 3 /app y'",
  "deleteall -b 0 /app",
  "--yes deleteall /app",
  "deleteall --dry-run /app",
  "getAcl -s /app",
  "--yes setAcl -R /app world:anyone:r",
  "setAcl -R /app world:anyone:r",
  "setAcl -s -v 2 /app world:anyone:cdrwa",
  "can admin /app/x/y",
  "can --json write /app",
  "top -n 2 --every 100ms",
  "session 0x1",
  "session --json 0x1",
  "session --json --all",
  "word ruok",
  "word srvr --all",
  "word --json cons",
  "config -c -s",
  "reconfig -s -remove 3",
  "setquota -n 5 /app",
  "setquota -B 1000 /app",
  "delquota -n /app",
  "removewatches /app",
  "watch -R /app",
  "watch --data /app -- cat",
  "watch --json /app",
  "whoholds /lock",
  "whoholds -R /",
  "whoholds --watch /lock",
  "-v whoholds /lock /other",
  "revoke /lock",
  "revoke --wait 100ms --reason because /lock",
  "revoke --force /lock",
  "--yes revoke --force /lock",
  "--yes revoke --force --all /lock",
  "lock -n /lock -- true",
  "lock -w 100ms /lock -- true",
  "-v lock -w 100ms /lock -- true",
  "lock --json -w 100ms /lock /other -- true",
  "lock --compat all -n /lock -- true",
  "lock --recipe unique -w 100ms /lock -- true",
  "rwlock read -w 100ms /lock -- true",
  "rwlock write -n /lock -- true",
  "-v sem --limit 2 -w 100ms /lock -- true",
  "sem --limit 3 -k 2 -n /lock -- true",
  "-v elect -w 100ms /lock -- true",
  "elect --observe /lock",
  "elect --leader /lock",
  "fence check exclusive:0x1f:/lock/_c_6b0e-lock-0000000003",
  "fence guard /fences/db 15",
  "--debug ls /app",
  "--debug -v lock -n /lock -- true",
];

/** Several statements of one session, with watches that are printed as they come. */
export const SCRIPTS: readonly string[] = [
  "addWatch /app; get -w /app; ls -w /app; stat -w /app; set /app x; sync /; set /app y; removewatches /app",
  "addWatch -m PERSISTENT /; ls /; ls /; ls /; printwatches off; ls /; printwatches; whoami; getEphemerals",
  "cd /app; pwd; ls; get .; cd -; history; listquota /app; config; getAllChildrenNumber /app",
  "lock -n /lock; whoholds /lock; unlock /lock; exists /lock",
  "create -e -s /app/n- x; getEphemerals /; close; connect; ls /; version",
];

/** Nothing of an ensemble is in their answers, and they take a port, or the program's own end. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "serve",
  "help",
  "version",
  "clear",
  "quit",
  "history",
  "redo",
]);

/** A new command is fuzzed by its examples as soon as it is in the registry. */
export async function commandLines(): Promise<readonly string[]> {
  const entries = commands.filter(({ name }) => !LEFT_OUT.has(name));
  const examples = await Promise.all(entries.map(async ({ load }) => (await load()).examples));
  return [...examples.flat(), ...MORE];
}
