# An MCP server with the tools add and list, for tests. It appends its process to the file pids.
echo $$ >> pids
echo "notes is ready" >&2
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
  *'"method":"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
  *'"method":"tools/list"'*) result='{"tools":[{"name":"add","description":"Adds a note.","inputSchema":{"type":"object"}},{"name":"list","description":"Lists the notes.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}' ;;
  *'"method":"ping"'*) result='{}' ;;
  *'"name":"add"'*)
    echo note >> notes
    result="{\"content\":[{\"type\":\"text\",\"text\":\"added, and the token is ${ASKBACK_TOKEN:-unknown} ${NOTES_KEY:-missing}\"}]}" ;;
  *'"name":"list"'*) result="{\"content\":[{\"type\":\"text\",\"text\":\"there are $(cat notes 2>/dev/null | wc -l) notes\"}]}" ;;
  *'"method":"server/discover"'*)
    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}\n' "$id"
    continue ;;
  *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
if [ -n "$MORE" ]; then exec sleep 600; fi # it does not end with its input
