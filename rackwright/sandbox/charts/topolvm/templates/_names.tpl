{{- define "name" -}}
{{- if contains "topolvm" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-topolvm{{ end }}
{{- end }}

{{- define "selector" -}}
app.kubernetes.io/name: topolvm
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "labels" -}}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: topolvm-{{ .Chart.Version }}
{{- end }}

{{- /* Where a pod may be placed; given its settings. */}}
{{- define "placement" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
