#!/usr/bin/env node
import { start } from "../dist/main.js";

process.exitCode = await start(process.argv);
// A name lookup cannot be cancelled: one that a silent name server has left hanging would keep the process for seconds.
setTimeout(() => process.exit(), 100).unref();
