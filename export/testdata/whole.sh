# The entities of shop-bus, as commands of az.
az servicebus namespace create -g shop -n shop-bus --sku Premium -l westeurope \
  --capacity 2 --disable-local-auth true --mi-system-assigned true \
  --mi-user-assigned /subscriptions/s/me --tags 'cost center=a'\''b' env=dev
az servicebus topic create -g shop --namespace-name shop-bus -n events
az servicebus queue create -g shop --namespace-name shop-bus -n orders \
  --lock-duration PT30S --max-delivery-count 3 --enable-session true
az servicebus queue create -g shop --namespace-name shop-bus -n 'a~b' \
  --forward-to orders
az servicebus topic subscription create -g shop --namespace-name shop-bus \
  --topic-name events -n all
az servicebus topic subscription create -g shop --namespace-name shop-bus \
  --topic-name events -n eu
az servicebus topic subscription rule create \
  -g shop --namespace-name shop-bus --topic-name events --subscription-name eu \
  -n region --filter-type CorrelationFilter --label order
az servicebus topic subscription rule delete \
  -g shop --namespace-name shop-bus --topic-name events --subscription-name eu \
  -n '$Default'
az servicebus topic subscription create -g shop --namespace-name shop-bus \
  --topic-name events -n large
az servicebus topic subscription rule create \
  -g shop --namespace-name shop-bus --topic-name events --subscription-name large \
  -n amount \
  --filter-sql-expression 'amount > 1000 AND owner = '\''it'\'''\''s $me'\''' \
  --action-sql-expression 'SET a = 1'
az servicebus topic subscription rule delete \
  -g shop --namespace-name shop-bus --topic-name events --subscription-name large \
  -n '$Default'
az servicebus namespace authorization-rule create \
  -g shop --namespace-name shop-bus -n app --rights Send
az role assignment create --role 'Azure Service Bus Data Sender' \
  --assignee-object-id aaaaaaaa-0000-4000-8000-000000000001 \
  --assignee-principal-type ServicePrincipal \
  --scope /subscriptions/s/resourceGroups/shop/providers/Microsoft.ServiceBus/namespaces/shop-bus
az role assignment create --role 'Azure Service Bus Data Sender' \
  --assignee-object-id aaaaaaaa-0000-4000-8000-000000000001 \
  --assignee-principal-type ServicePrincipal \
  --scope '/subscriptions/s/resourceGroups/shop/providers/Microsoft.ServiceBus/namespaces/shop-bus/queues/a~b'
az role assignment create --role e0000000-0000-4000-8000-00000000000e \
  --assignee-object-id aaaaaaaa-0000-4000-8000-000000000001 \
  --assignee-principal-type ServicePrincipal \
  --scope /subscriptions/s/resourceGroups/shop/providers/Microsoft.ServiceBus/namespaces/shop-bus/topics/events/subscriptions/eu
