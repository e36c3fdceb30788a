/**
 * Milliseconds of CPU that this process has used: what a computation costs, whatever else the
 * machine does.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
