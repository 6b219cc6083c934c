{{- define "name" -}}
{{- if contains "langfuse" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-langfuse{{ end }}
{{- end }}

{{- define "selector" -}}
app.kubernetes.io/name: langfuse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "labels" -}}
helm.sh/chart: langfuse-{{ .Chart.Version }}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "variable" }}
- name: {{ .name }}
  valueFrom: {secretKeyRef: {name: {{ .secret }}, key: {{ .key }}}}
{{- end }}

{{- define "variables" -}}
{{- $app := .Values.langfuse }}
{{- range $name, $value := dict "SALT" $app.salt "ENCRYPTION_KEY" $app.encryptionKey "NEXTAUTH_SECRET" $app.nextauth.secret }}
{{- with $value.secretKeyRef }}{{ include "variable" (dict "name" $name "secret" .name "key" .key) }}{{ end }}
{{- end }}
{{- with .Values.postgresql.auth }}
{{- include "variable" (dict "name" "DATABASE_PASSWORD" "secret" .existingSecret "key" .secretKeys.userPasswordKey) }}
{{- end }}
{{- with .Values.redis.auth }}
{{- include "variable" (dict "name" "REDIS_PASSWORD" "secret" .existingSecret "key" .existingSecretPasswordKey) }}
{{- end }}
{{- with .Values.clickhouse.auth }}
{{- include "variable" (dict "name" "CLICKHOUSE_PASSWORD" "secret" .existingSecret "key" .existingSecretKey) }}
{{- end }}
{{- range $what := list "EVENT_UPLOAD" "BATCH_EXPORT" "MEDIA_UPLOAD" }}
{{- range $key, $value := dict "ACCESS_KEY_ID" $.Values.s3.accessKeyId "SECRET_ACCESS_KEY" $.Values.s3.secretAccessKey }}
{{- with $value.secretKeyRef }}
{{- include "variable" (dict "name" (printf "LANGFUSE_S3_%s_%s" $what $key) "secret" .name "key" .key) }}
{{- end }}
{{- end }}
{{- end }}
{{- with $app.additionalEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
