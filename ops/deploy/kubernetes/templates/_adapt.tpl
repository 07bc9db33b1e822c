{{- /* Changes a manifest as values.yaml says, and prints nothing. */ -}}
{{- define "sheaf.adapt" }}
{{- $values := .root.Values }}
{{- $manifest := .manifest }}
{{- $name := $manifest.metadata.name }}
{{- $own := get $values (trimPrefix "sheaf-" $name) | default dict }}
{{- if eq $manifest.kind "PriorityClass" }}
{{- $_ := set $manifest.metadata "name" (include "sheaf.first" .root) }}
{{- else }}
{{- $_ := set $manifest.metadata "namespace" .root.Release.Namespace }}
{{- end }}
{{- if eq $manifest.kind "ConfigMap" }}
{{- $_ := set $manifest "data" (include "sheaf.config" (dict "manifest" $manifest "root" .root) | fromYaml) }}
{{- else if eq $manifest.kind "HorizontalPodAutoscaler" }}
{{- $_ := mergeOverwrite $manifest.spec (dict "minReplicas" (int $own.replicas) "maxReplicas" (int $own.maxReplicas)) }}
{{- $_ := set (index $manifest.spec.metrics 0).external "target" (dict "type" "Value" "value" (toString $own.queueSeconds)) }}
{{- else if or (eq $manifest.kind "Deployment") (eq $manifest.kind "Job") }}
{{- include "sheaf.adaptPods" (dict "manifest" $manifest "root" .root "own" $own) }}
{{- end }}
{{- /* A job cannot be changed: each release has its own. */ -}}
{{- if eq $manifest.kind "Job" }}{{ $_ := set $manifest.metadata "name" (printf "%s-%d" $name .root.Release.Revision) }}{{ end }}
{{- end }}

{{- /* The one thing outside of the namespace: each namespace has its own. */ -}}
{{- define "sheaf.first" }}{{ .Release.Namespace }}-first{{ end }}

{{- define "sheaf.adaptPods" }}
{{- $template := .manifest.spec.template }}
{{- $own := .own }}
{{- $image := .root.Values.image }}
{{- if $template.spec.priorityClassName }}{{ $_ := set $template.spec "priorityClassName" (include "sheaf.first" .root) }}{{ end }}
{{- range $container := concat ($template.spec.initContainers | default list) $template.spec.containers }}
{{- $repository := splitList ":" $container.image | first }}
{{- with $image.registry }}{{ $repository = printf "%s/%s" (trimSuffix "/" .) $repository }}{{ end }}
{{- $_ := set $container "image" (printf "%s:%s" $repository ($image.tag | default $.root.Chart.AppVersion)) }}
{{- end }}
{{- if eq .manifest.kind "Deployment" }}
{{- /* Pods see a changed variable when they start again. */ -}}
{{- $config := toYaml (list .root.Values.config .root.Values.aiConfig) | sha256sum }}
{{- $_ := set $template.metadata "annotations" (dict "sheaf.example.com/configuration" $config) }}
{{- $_ := mergeOverwrite (index $template.spec.containers 0).resources (deepCopy $own.resources) }}
{{- $_ := mergeOverwrite $template.spec (deepCopy $own.pod) }}
{{- /* An autoscaler's number must not be set back: without any, Kubernetes would take 1 when an autoscaler is turned on. */ -}}
{{- $running := lookup "apps/v1" "Deployment" .root.Release.Namespace .manifest.metadata.name }}
{{- if not $own.maxReplicas }}{{ $_ := set .manifest.spec "replicas" (int $own.replicas) }}
{{- else if $running }}{{ $_ := set .manifest.spec "replicas" (int $running.spec.replicas) }}
{{- else }}{{ $_ := unset .manifest.spec "replicas" }}{{ end }}
{{- end }}
{{- end }}

{{- /* The variables of a ConfigMap: its own, those of values.yaml over them, without empty ones. */ -}}
{{- define "sheaf.config" }}
{{- $given := eq .manifest.metadata.name "sheaf-ai" | ternary .root.Values.aiConfig .root.Values.config }}
{{- $data := .manifest.data }}
{{- range $key, $value := $given }}{{ $_ := set $data $key (toString $value) }}{{ end }}
{{- range $key, $value := $data }}
{{- if $value }}
{{ $key }}: {{ quote $value }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Not the workers' autoscaler, where KEDA makes one, or none is wanted. */ -}}
{{- define "sheaf.wanted" }}
{{- $worker := .root.Values.worker }}
{{- if or (ne .manifest.kind "HorizontalPodAutoscaler") (and $worker.maxReplicas (not $worker.keda)) }}yes{{ end }}
{{- end }}
