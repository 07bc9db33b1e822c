/** Renders the chart of ops/deploy/kubernetes. */
export const helm = {
  name: 'helm',
  package: 'helm.sh/helm/v3/cmd/helm',
  version: 'v3.19.0',
  needed: 'The chart cannot be rendered',
};
