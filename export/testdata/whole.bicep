// The entities of shop-bus, written by minibus export.
resource serviceBus 'Microsoft.ServiceBus/namespaces@2021-11-01' = {
  name: 'shop-bus'
  location: 'westeurope'
  tags: {
    'cost center': 'a\'b'
    env: 'dev'
  }
  sku: {
    name: 'Premium'
    tier: 'Premium'
    capacity: 2
  }
  identity: {
    type: 'SystemAssigned, UserAssigned'
    userAssignedIdentities: {
      '/subscriptions/s/me': {
      }
    }
  }
  properties: {
    disableLocalAuth: true
  }
}

resource topic_events 'Microsoft.ServiceBus/namespaces/topics@2021-11-01' = {
  parent: serviceBus
  name: 'events'
  properties: {
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    supportOrdering: true
    enableBatchedOperations: true
    requiresDuplicateDetection: false
    enablePartitioning: false
    maxSizeInMegabytes: 1024
  }
}

resource queue_orders 'Microsoft.ServiceBus/namespaces/queues@2021-11-01' = {
  parent: serviceBus
  name: 'orders'
  properties: {
    lockDuration: 'PT30S'
    maxDeliveryCount: 3
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: false
    requiresSession: true
    enableBatchedOperations: true
    requiresDuplicateDetection: false
    enablePartitioning: false
    maxSizeInMegabytes: 1024
  }
}

resource queue_a_b 'Microsoft.ServiceBus/namespaces/queues@2021-11-01' = {
  parent: serviceBus
  name: 'a~b'
  properties: {
    lockDuration: 'PT1M'
    maxDeliveryCount: 10
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: false
    requiresSession: false
    enableBatchedOperations: true
    forwardTo: 'orders'
    requiresDuplicateDetection: false
    enablePartitioning: false
    maxSizeInMegabytes: 1024
  }
  dependsOn: [
    queue_orders
  ]
}

resource subscription_events_all 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2021-11-01' = {
  parent: topic_events
  name: 'all'
  properties: {
    lockDuration: 'PT1M'
    maxDeliveryCount: 10
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: false
    requiresSession: false
    enableBatchedOperations: true
    deadLetteringOnFilterEvaluationExceptions: true
  }
}

// $Default takes nothing here: Azure makes it with the subscription, and a template can't delete it
resource subscription_events_eu 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2021-11-01' = {
  parent: topic_events
  name: 'eu'
  properties: {
    lockDuration: 'PT1M'
    maxDeliveryCount: 10
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: false
    requiresSession: false
    enableBatchedOperations: true
    deadLetteringOnFilterEvaluationExceptions: true
  }
}

resource rule_events_eu_Default 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_eu
  name: '$Default'
  properties: {
    filterType: 'SqlFilter'
    sqlFilter: {
      sqlExpression: '1=0'
    }
  }
}

resource rule_events_eu_region 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_eu
  name: 'region'
  properties: {
    filterType: 'CorrelationFilter'
    correlationFilter: {
      label: 'order'
    }
  }
}

// $Default takes nothing here: Azure makes it with the subscription, and a template can't delete it
resource subscription_events_large 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2021-11-01' = {
  parent: topic_events
  name: 'large'
  properties: {
    lockDuration: 'PT1M'
    maxDeliveryCount: 10
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: false
    requiresSession: false
    enableBatchedOperations: true
    deadLetteringOnFilterEvaluationExceptions: true
  }
}

resource rule_events_large_Default 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_large
  name: '$Default'
  properties: {
    filterType: 'SqlFilter'
    sqlFilter: {
      sqlExpression: '1=0'
    }
  }
}

resource rule_events_large_amount 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_large
  name: 'amount'
  properties: {
    filterType: 'SqlFilter'
    sqlFilter: {
      sqlExpression: 'amount > 1000 AND owner = \'it\'\'s $me\''
    }
    action: {
      sqlExpression: 'SET a = 1'
    }
  }
}

resource policy_app 'Microsoft.ServiceBus/namespaces/authorizationRules@2021-11-01' = {
  parent: serviceBus
  name: 'app'
  properties: {
    rights: [
      'Send'
    ]
  }
}

// Azure Service Bus Data Sender
resource role_a0000000_0000_4000_8000_00000000000a 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: serviceBus
  name: 'a0000000-0000-4000-8000-00000000000a'
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39')
    principalId: 'aaaaaaaa-0000-4000-8000-000000000001'
    principalType: 'ServicePrincipal'
  }
}

// Azure Service Bus Data Sender
resource role_b0000000_0000_4000_8000_00000000000b 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: queue_a_b
  name: 'b0000000-0000-4000-8000-00000000000b'
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39')
    principalId: 'aaaaaaaa-0000-4000-8000-000000000001'
    principalType: 'ServicePrincipal'
  }
}

// e0000000-0000-4000-8000-00000000000e
resource role_c0000000_0000_4000_8000_00000000000c 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: subscription_events_eu
  name: 'c0000000-0000-4000-8000-00000000000c'
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', 'e0000000-0000-4000-8000-00000000000e')
    principalId: 'aaaaaaaa-0000-4000-8000-000000000001'
    principalType: 'ServicePrincipal'
  }
}
