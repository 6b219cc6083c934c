{{- define "name" -}}
llmisvc-controller-manager
{{- end }}

{{- define "release" -}}
app.kubernetes.io/name: {{ include "name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "selector" -}}
{{ include "release" . }}
control-plane: {{ include "name" . }}
controller-tools.k8s.io: "1.0"
{{- end }}

{{- define "labels" -}}
helm.sh/chart: kserve-llmisvc-resources-{{ .Chart.Version }}
{{ include "selector" . }}
app.kubernetes.io/component: controller
app.kubernetes.io/version: {{ .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
