/** The official client for Python refuses an event of more than 1 MiB. The rest of it is for what stands beside the items. */
const maxItemsBytes = 900_000;

/** How many of the first items fit into a result, which has them as JSON and as a text of JSON; at least one. */
export function countFitting(items: readonly object[]): number {
  let bytes = 0;
  const excess = items.findIndex((item) => {
    const json = JSON.stringify(item);
    bytes += Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json));
    return bytes > maxItemsBytes;
  });
  return excess < 0 ? items.length : Math.max(1, excess);
}
