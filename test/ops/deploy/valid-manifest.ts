import { expect } from 'chai';
import { findUnread, watchReads } from '../../support/unread-fields.ts';

/** The validators that come from Kubernetes's own OpenAPI document. */
const schemas: Record<string, string> = {
  'v1 Namespace': 'IoK8sApiCoreV1Namespace',
  'v1 ConfigMap': 'IoK8sApiCoreV1ConfigMap',
  'v1 Service': 'IoK8sApiCoreV1Service',
  'apps/v1 Deployment': 'IoK8sApiAppsV1Deployment',
  'batch/v1 Job': 'IoK8sApiBatchV1Job',
  'batch/v1 CronJob': 'IoK8sApiBatchV1CronJob',
  'scheduling.k8s.io/v1 PriorityClass': 'IoK8sApiSchedulingV1PriorityClass',
  'policy/v1 PodDisruptionBudget': 'IoK8sApiPolicyV1PodDisruptionBudget',
  'autoscaling/v2 HorizontalPodAutoscaler': 'IoK8sApiAutoscalingV2HorizontalPodAutoscaler',
  'networking.k8s.io/v1 Ingress': 'IoK8sApiNetworkingV1Ingress',
  'networking.k8s.io/v1 NetworkPolicy': 'IoK8sApiNetworkingV1NetworkPolicy',
};

/** Fails unless Kubernetes's own OpenAPI document knows a manifest and each of its fields. */
export async function expectValid(manifest: any): Promise<void> {
  const { apiVersion, kind, metadata } = manifest;
  const { validate } = await import(`kubernetes-models/_schemas/${schemas[`${apiVersion} ${kind}`]}`);
  const reads = new Set<string>();
  expect(validate(watchReads(manifest, reads)), `${kind} ${metadata.name}: ${JSON.stringify(validate.errors)}`).to.equal(true);
  expect(findUnread(manifest, reads), `${kind} ${metadata.name}`).to.deep.equal([]);
}
