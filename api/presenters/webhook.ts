import type { SecretBox } from '../../domain/secret-box.ts';
import { bodyOf, type DeliveryRow } from '../../domain/webhooks/delivery.ts';
import type { EndpointRow } from '../../domain/webhooks/endpoint.ts';

/** An endpoint as the API shows it, without its secrets. */
export function toEndpoint(endpoint: EndpointRow) {
  return {
    id: endpoint.id,
    organizationId: endpoint.organization_id,
    url: endpoint.url,
    description: endpoint.description,
    events: endpoint.events,
    enabled: endpoint.enabled,
    disabledReason: endpoint.disabled_reason,
    failingSince: endpoint.failing_since?.toISOString() ?? null,
    signature: endpoint.signature,
    publicKey: endpoint.public_key,
    previousSecretUntil: endpoint.previous_secret_until?.toISOString() ?? null,
    createdAt: endpoint.created_at.toISOString(),
    updatedAt: endpoint.updated_at.toISOString(),
  };
}

/** An endpoint with its new secret. A private key is never shown. */
export function toEndpointWithSecret(endpoint: EndpointRow, secrets: SecretBox) {
  return { ...toEndpoint(endpoint), secret: endpoint.signature === 'v1' ? secrets.open(endpoint.secret) : null };
}

/** A delivery as the API shows it. */
export function toDelivery(delivery: DeliveryRow) {
  const { response_status: status, response_body: body } = delivery;
  return {
    id: delivery.id,
    organizationId: delivery.organization_id,
    endpointId: delivery.endpoint_id,
    eventId: delivery.event_id,
    event: delivery.event,
    status: delivery.status,
    error: delivery.error,
    request: { url: delivery.url, body: bodyOf(delivery) },
    response: status === null ? null : { status, body: body ?? '' },
    attempts: delivery.attempts,
    nextAttemptAt: delivery.next_attempt_at?.toISOString() ?? null,
    createdAt: delivery.created_at.toISOString(),
    finishedAt: delivery.finished_at?.toISOString() ?? null,
  };
}
