/** A node of a tree whose texts are compared. */
export interface TreeNode {
  label: string;
  text: string;
  children: TreeNode[];
}

/** A tree in postorder, with the first leaf below each node. */
interface Flat {
  nodes: TreeNode[];
  firstLeaf: number[];
}

/**
 * How alike two trees are: 1 less the edits that turn one into the other, as a share of the nodes of the larger (TEDS, as benchmarks of
 * tables compute it). A node that is removed or added is an edit; one that is changed is as much of one as `change` says.
 */
export function treeSimilarity(one: TreeNode, other: TreeNode, change: (one: TreeNode, other: TreeNode) => number): number {
  const [mine, theirs] = [flatten(one), flatten(other)];
  // The roots are always there, and say nothing.
  const most = Math.max(mine.nodes.length, theirs.nodes.length) - 1;
  return most === 0 ? 1 : 1 - distance(mine, theirs, change) / most;
}

function flatten(root: TreeNode): Flat {
  const flat: Flat = { nodes: [], firstLeaf: [] };
  const visit = (node: TreeNode): number => {
    const firsts = node.children.map(visit);
    const at = flat.nodes.push(node) - 1;
    flat.firstLeaf.push(firsts[0] ?? at);
    return firsts[0] ?? at;
  };
  visit(root);
  return flat;
}

/** By Zhang and Shasha (1989). */
function distance(one: Flat, other: Flat, change: (one: TreeNode, other: TreeNode) => number): number {
  const trees = one.nodes.map(() => new Float64Array(other.nodes.length));
  for (const i of keyRoots(one)) for (const j of keyRoots(other)) fill(one, other, i, j, trees, change);
  return trees.at(-1)?.at(-1) ?? 0;
}

function fill(
  one: Flat,
  other: Flat,
  i: number,
  j: number,
  trees: Float64Array[],
  change: (one: TreeNode, other: TreeNode) => number,
): void {
  const [fromI, fromJ] = [one.firstLeaf[i] as number, other.firstLeaf[j] as number];
  const forest = Array.from({ length: i - fromI + 2 }, (_, x) =>
    Float64Array.from({ length: j - fromJ + 2 }, (_, y) => (x === 0 ? y : y === 0 ? x : 0)),
  );
  const at = (x: number, y: number) => forest[x]?.[y] as number;
  for (let x = 1; x < forest.length; x += 1) {
    for (let y = 1; y <= j - fromJ + 1; y += 1) {
      const [m, n] = [fromI + x - 1, fromJ + y - 1];
      const edit = Math.min(at(x - 1, y), at(x, y - 1)) + 1;
      const row = forest[x] as Float64Array;
      if (one.firstLeaf[m] === fromI && other.firstLeaf[n] === fromJ) {
        row[y] = Math.min(edit, at(x - 1, y - 1) + change(one.nodes[m] as TreeNode, other.nodes[n] as TreeNode));
        (trees[m] as Float64Array)[n] = row[y] as number;
      } else {
        const kept = at((one.firstLeaf[m] as number) - fromI, (other.firstLeaf[n] as number) - fromJ);
        row[y] = Math.min(edit, kept + (trees[m]?.[n] as number));
      }
    }
  }
}

/** The nodes that have a sibling before them, and the root. */
function keyRoots({ firstLeaf }: Flat): number[] {
  return firstLeaf.flatMap((leaf, at) => (firstLeaf.lastIndexOf(leaf) === at ? [at] : []));
}
