// The entities of contoso.servicebus.windows.net, written by minibus export.
@description('Name of an existing Service Bus namespace.')
param namespaceName string

resource serviceBus 'Microsoft.ServiceBus/namespaces@2021-11-01' existing = {
  name: namespaceName
}

resource topic_audit 'Microsoft.ServiceBus/namespaces/topics@2021-11-01' = {
  parent: serviceBus
  name: 'audit'
  properties: {
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    supportOrdering: true
    enableBatchedOperations: true
    requiresDuplicateDetection: true
    duplicateDetectionHistoryTimeWindow: 'PT1M'
    enablePartitioning: true
    maxSizeInMegabytes: 1024
    autoDeleteOnIdle: 'P30D'
  }
}

resource policy_audit_send_only 'Microsoft.ServiceBus/namespaces/topics/authorizationRules@2021-11-01' = {
  parent: topic_audit
  name: 'send-only'
  properties: {
    rights: [
      'Send'
    ]
  }
}

resource topic_events 'Microsoft.ServiceBus/namespaces/topics@2021-11-01' = {
  parent: serviceBus
  name: 'events'
  properties: {
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    supportOrdering: false
    enableBatchedOperations: true
    requiresDuplicateDetection: true
    duplicateDetectionHistoryTimeWindow: 'PT1M'
    enablePartitioning: true
    maxSizeInMegabytes: 1024
    autoDeleteOnIdle: 'P30D'
  }
}

resource policy_events_send_only 'Microsoft.ServiceBus/namespaces/topics/authorizationRules@2021-11-01' = {
  parent: topic_events
  name: 'send-only'
  properties: {
    rights: [
      'Send'
    ]
  }
}

resource queue_1st 'Microsoft.ServiceBus/namespaces/queues@2021-11-01' = {
  parent: serviceBus
  name: '1st'
  properties: {
    lockDuration: 'PT30S'
    maxDeliveryCount: 10
    defaultMessageTimeToLive: 'P14D'
    deadLetteringOnMessageExpiration: true
    requiresSession: false
    enableBatchedOperations: true
    requiresDuplicateDetection: false
    enablePartitioning: false
    maxSizeInMegabytes: 2048
  }
}

// forwardTo is left out, it closes a circle; set it to circle-a afterwards
resource queue_circle_b 'Microsoft.ServiceBus/namespaces/queues@2021-11-01' = {
  parent: serviceBus
  name: 'circle-b'
  properties: {
    lockDuration: 'PT30S'
    maxDeliveryCount: 10
    defaultMessageTimeToLive: 'P14D'
    deadLetteringOnMessageExpiration: true
    requiresSession: false
    enableBatchedOperations: true
    requiresDuplicateDetection: false
    enablePartitioning: false
    maxSizeInMegabytes: 2048
  }
}

resource queue_circle_a 'Microsoft.ServiceBus/namespaces/queues@2021-11-01' = {
  parent: serviceBus
  name: 'circle-a'
  properties: {
    lockDuration: 'PT30S'
    maxDeliveryCount: 10
    defaultMessageTimeToLive: 'P14D'
    deadLetteringOnMessageExpiration: true
    requiresSession: false
    enableBatchedOperations: true
    forwardTo: 'circle-b'
    requiresDuplicateDetection: false
    enablePartitioning: false
    maxSizeInMegabytes: 2048
  }
  dependsOn: [
    queue_circle_b
  ]
}

// its user metadata is left out, templates do not have it: two lines ${x} 'quoted' "twice"
resource queue_failed 'Microsoft.ServiceBus/namespaces/queues@2021-11-01' = {
  parent: serviceBus
  name: 'failed'
  properties: {
    lockDuration: 'PT30S'
    maxDeliveryCount: 10
    defaultMessageTimeToLive: 'P14D'
    deadLetteringOnMessageExpiration: true
    requiresSession: false
    enableBatchedOperations: true
    status: 'SendDisabled'
    requiresDuplicateDetection: false
    enablePartitioning: false
    maxSizeInMegabytes: 2048
  }
}

resource queue_orders 'Microsoft.ServiceBus/namespaces/queues@2021-11-01' = {
  parent: serviceBus
  name: 'orders'
  properties: {
    lockDuration: 'PT30S'
    maxDeliveryCount: 10
    defaultMessageTimeToLive: 'P14D'
    deadLetteringOnMessageExpiration: true
    requiresSession: false
    enableBatchedOperations: true
    forwardDeadLetteredMessagesTo: 'failed'
    requiresDuplicateDetection: false
    enablePartitioning: false
    maxSizeInMegabytes: 2048
  }
  dependsOn: [
    queue_failed
  ]
}

// Azure will not create it as it is: The property value for 'MaxMessageSizeInKilobytes' must be between 256 and 256 (MaxMessageSizeInKilobytes: 1024)
resource queue_sap_orders_in 'Microsoft.ServiceBus/namespaces/queues@2021-11-01' = {
  parent: serviceBus
  name: 'sap~orders.in'
  properties: {
    lockDuration: 'PT30S'
    maxDeliveryCount: 10
    defaultMessageTimeToLive: 'P14D'
    deadLetteringOnMessageExpiration: true
    requiresSession: false
    enableBatchedOperations: true
    forwardTo: 'orders'
    requiresDuplicateDetection: false
    enablePartitioning: false
    enableExpress: true
    maxSizeInMegabytes: 2048
    maxMessageSizeInKilobytes: 1024
  }
  dependsOn: [
    queue_orders
  ]
}

resource queue_sap_orders_in_2 'Microsoft.ServiceBus/namespaces/queues@2021-11-01' = {
  parent: serviceBus
  name: 'sap_orders-in'
  properties: {
    lockDuration: 'PT30S'
    maxDeliveryCount: 10
    defaultMessageTimeToLive: 'P14D'
    deadLetteringOnMessageExpiration: true
    requiresSession: false
    enableBatchedOperations: true
    forwardTo: 'sap/orders.in'
    requiresDuplicateDetection: false
    enablePartitioning: false
    maxSizeInMegabytes: 2048
  }
  dependsOn: [
    queue_sap_orders_in
  ]
}

resource queue_sessions 'Microsoft.ServiceBus/namespaces/queues@2021-11-01' = {
  parent: serviceBus
  name: 'sessions'
  properties: {
    lockDuration: 'PT30S'
    maxDeliveryCount: 10
    defaultMessageTimeToLive: 'P14D'
    deadLetteringOnMessageExpiration: true
    requiresSession: true
    enableBatchedOperations: true
    requiresDuplicateDetection: false
    enablePartitioning: false
    maxSizeInMegabytes: 2048
  }
}

resource policy_orders_Admin 'Microsoft.ServiceBus/namespaces/queues/authorizationRules@2021-11-01' = {
  parent: queue_orders
  name: 'Admin'
  properties: {
    rights: [
      'Manage'
      'Send'
      'Listen'
    ]
  }
}

resource policy_orders_shop 'Microsoft.ServiceBus/namespaces/queues/authorizationRules@2021-11-01' = {
  parent: queue_orders
  name: 'shop'
  properties: {
    rights: [
      'Send'
      'Listen'
    ]
  }
}

resource subscription_events_all 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2021-11-01' = {
  parent: topic_events
  name: 'all'
  properties: {
    lockDuration: 'PT1M'
    maxDeliveryCount: 2000
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: false
    requiresSession: false
    enableBatchedOperations: true
    deadLetteringOnFilterEvaluationExceptions: true
  }
}

// the target of forwardDeadLetteredMessagesTo, gone, is not among the exported entities and must exist
resource subscription_events_eu 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2021-11-01' = {
  parent: topic_events
  name: 'eu'
  properties: {
    lockDuration: 'PT1M'
    maxDeliveryCount: 2000
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: false
    requiresSession: false
    enableBatchedOperations: true
    forwardTo: 'sap/orders.in'
    forwardDeadLetteredMessagesTo: 'gone'
    status: 'ReceiveDisabled'
    deadLetteringOnFilterEvaluationExceptions: true
  }
  dependsOn: [
    queue_sap_orders_in
  ]
}

// the parameters are written into the expression
resource rule_events_eu_Default 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_eu
  name: '$Default'
  properties: {
    filterType: 'SqlFilter'
    sqlFilter: {
      sqlExpression: 'amount > (-100) AND [a@b] = \'it\'\'s \${x}\' OR note = \'@min\''
    }
    action: {
      sqlExpression: 'SET tier = 2.0'
    }
  }
}

// the rule has a value that can't be written down here, it is exported as one that takes nothing
resource rule_events_eu_dates 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_eu
  name: 'dates'
  properties: {
    filterType: 'SqlFilter'
    sqlFilter: {
      sqlExpression: '1=0'
    }
  }
}

resource rule_events_eu_Default_2 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_eu
  name: 'Default'
  properties: {
    filterType: 'CorrelationFilter'
    correlationFilter: {
      correlationId: 'c'
      label: 'O\'Neill'
      properties: {
        'a b': '%{x}'
        region: 'eu'
      }
    }
  }
}

resource rule_events_eu_future 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_eu
  name: 'future'
  properties: {
    filterType: 'SqlFilter'
    sqlFilter: {
      sqlExpression: '1=0'
    }
  }
}

// the correlation filter is exported as SQL, because its values are not all text
resource rule_events_eu_numbers 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_eu
  name: 'numbers'
  properties: {
    filterType: 'SqlFilter'
    sqlFilter: {
      sqlExpression: 'sys.ReplyToSessionId = \'r\' AND [n]]] = 5 AND [b] = TRUE AND [f] = 1E30'
    }
  }
}

resource subscription_events_mail_app_D 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2021-11-01' = {
  parent: topic_events
  name: 'mail$app$D'
  properties: {
    lockDuration: 'PT1M'
    maxDeliveryCount: 2000
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: false
    requiresSession: false
    enableBatchedOperations: true
    deadLetteringOnFilterEvaluationExceptions: true
    isClientAffine: true
    clientAffineProperties: {
      clientId: 'app'
      isDurable: true
      isShared: true
    }
  }
}

resource rule_events_mail_app_D_Default 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_mail_app_D
  name: '$Default'
  properties: {
    filterType: 'SqlFilter'
    sqlFilter: {
      sqlExpression: 'size > 1 AND urgent = TRUE'
    }
  }
}

// it has no rules; it gets one that takes nothing, which is the same
resource subscription_events_none 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2021-11-01' = {
  parent: topic_events
  name: 'none'
  properties: {
    lockDuration: 'PT1M'
    maxDeliveryCount: 2000
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: false
    requiresSession: false
    enableBatchedOperations: true
    deadLetteringOnFilterEvaluationExceptions: true
  }
}

resource rule_events_none_Default 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_none
  name: '$Default'
  properties: {
    filterType: 'SqlFilter'
    sqlFilter: {
      sqlExpression: '1=0'
    }
  }
}

resource subscription_events_post__D 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2021-11-01' = {
  parent: topic_events
  name: 'post$$D'
  properties: {
    lockDuration: 'PT1M'
    maxDeliveryCount: 2000
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: false
    requiresSession: false
    enableBatchedOperations: true
    deadLetteringOnFilterEvaluationExceptions: true
    isClientAffine: true
    clientAffineProperties: {
      clientId: ''
      isDurable: true
      isShared: false
    }
  }
}

// $Default takes nothing here: Azure makes it with the subscription, and a template can't delete it
resource subscription_events_to_topic 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2021-11-01' = {
  parent: topic_events
  name: 'to-topic'
  properties: {
    lockDuration: 'PT1M'
    maxDeliveryCount: 2000
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: false
    requiresSession: false
    enableBatchedOperations: true
    forwardTo: 'events'
    status: 'SendDisabled'
    deadLetteringOnFilterEvaluationExceptions: true
  }
}

resource rule_events_to_topic_Default 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_to_topic
  name: '$Default'
  properties: {
    filterType: 'SqlFilter'
    sqlFilter: {
      sqlExpression: '1=0'
    }
  }
}

resource rule_events_to_topic_off 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: subscription_events_to_topic
  name: 'off'
  properties: {
    filterType: 'SqlFilter'
    sqlFilter: {
      sqlExpression: '1=0'
    }
  }
}
